import { createRouter, createWebHashHistory } from 'vue-router'

/** Every view has its address. Views are loaded when they are opened. */
export const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    { path: '/', name: 'ask', component: () => import('./plan/AskView.vue') },
    { path: '/plans', name: 'plans', component: () => import('./plan/PlansView.vue') },
    { path: '/plans/:id', name: 'plan', component: () => import('./plan/PlanView.vue'), props: true },
    { path: '/runs', name: 'runs', component: () => import('./runs/RunsView.vue') },
    { path: '/runs/:id', name: 'run', component: () => import('./run/RunView.vue'), props: true },
    { path: '/chat/:id?', name: 'chat', component: () => import('./chat/ChatView.vue'), props: true },
    { path: '/inbox', name: 'inbox', component: () => import('./people/InboxView.vue') },
    { path: '/templates', name: 'templates', component: () => import('./templates/TemplatesView.vue') },
    { path: '/templates/:id', name: 'template', component: () => import('./templates/TemplateView.vue'), props: true },
    { path: '/schedules', name: 'schedules', component: () => import('./schedules/SchedulesView.vue') },
    { path: '/tools', name: 'tools', component: () => import('./tools/ToolsView.vue') },
    { path: '/:rest(.*)*', name: 'nowhere', component: () => import('./parts/NowhereView.vue') },
  ],
})
