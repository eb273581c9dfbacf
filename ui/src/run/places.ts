/** The id of the plan that the call at a path began: by it that plan is looked at as a run of its own. */
export const planId = (run: string, path: string): string => (path ? `${run}:${path.replaceAll('/', ':')}` : run)

/** The run's id and the path in it; the path is empty for the run itself. */
export function splitPlanId(id: string): [string, string] {
  const at = id.indexOf(':')
  return at < 0 ? [id, ''] : [id.slice(0, at), id.slice(at + 1).replaceAll(':', '/')]
}
