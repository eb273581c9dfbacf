import { computed, shallowRef } from 'vue'
import type { Schemas } from '../api/client'

/** Who asks; null until the server has said. */
export const session = shallowRef<Schemas['SessionDetail'] | null>(null)

/** Whether they may do this at the server; what they may not is not offered, and is refused all the same. */
export function may(scope: 'read' | 'run' | 'answer' | 'admin'): boolean {
  const scopes = session.value?.scopes ?? []
  return scopes.includes('*') || scopes.includes(scope)
}

/** They look after what is of all tenants: MCP servers, settings, the audit trail as a whole. */
export const isHouse = computed(() => may('admin') && !session.value?.tenant)
