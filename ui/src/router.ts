import { createRouter, createWebHashHistory } from 'vue-router'
import { withoutEchoes } from './parts/addresses'

/** Every view has its address. Views are loaded when they are opened; those of `ofOne` are made anew for each id. */
export const router = createRouter({
  history: withoutEchoes(createWebHashHistory()),
  routes: [
    { path: '/', name: 'ask', component: () => import('./plan/AskView.vue') },
    { path: '/plans', name: 'plans', component: () => import('./plan/PlansView.vue') },
    { path: '/plans/:id', name: 'plan', component: () => import('./plan/PlanView.vue'), props: true, meta: { ofOne: true } },
    { path: '/requests/:id', name: 'request', component: () => import('./plan/RequestView.vue'), props: true, meta: { ofOne: true } },
    { path: '/runs', name: 'runs', component: () => import('./runs/RunsView.vue') },
    { path: '/runs/:id', name: 'run', component: () => import('./run/RunView.vue'), props: true },
    { path: '/runs/:id/compare/:other?', name: 'compare', component: () => import('./run/CompareView.vue'), props: true },
    { path: '/chat/:id?', name: 'chat', component: () => import('./chat/ChatView.vue'), props: true },
    { path: '/inbox', name: 'inbox', component: () => import('./people/InboxView.vue') },
    { path: '/templates', name: 'templates', component: () => import('./templates/TemplatesView.vue') },
    { path: '/templates/:id', name: 'template', component: () => import('./templates/TemplateView.vue'), props: true, meta: { ofOne: true } },
    { path: '/schedules', name: 'schedules', component: () => import('./schedules/SchedulesView.vue') },
    { path: '/schedules/:id', name: 'schedule', component: () => import('./schedules/ScheduleView.vue'), props: true, meta: { ofOne: true } },
    { path: '/files/:where(runs)?/:run?', name: 'files', component: () => import('./files/FilesView.vue'), props: true },
    { path: '/models', name: 'models', component: () => import('./models/ModelsView.vue') },
    { path: '/settings', name: 'settings', component: () => import('./settings/SettingsView.vue') },
    { path: '/mcp-servers', name: 'mcp-servers', component: () => import('./tools/McpServersView.vue') },
    { path: '/operation', name: 'operation', component: () => import('./operation/OperationView.vue') },
    { path: '/operation/workers', name: 'workers', component: () => import('./operation/WorkersView.vue') },
    { path: '/operation/audit', name: 'audit', component: () => import('./operation/AuditView.vue') },
    { path: '/tools', name: 'tools', component: () => import('./tools/ToolsView.vue') },
    { path: '/:rest(.*)*', name: 'nowhere', component: () => import('./parts/NowhereView.vue') },
  ],
})
