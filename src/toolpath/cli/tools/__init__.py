"""`toolpath tools`: finding, showing, routing and calling tools."""
