import { computed, shallowRef, watch, type ComputedRef, type ShallowRef } from 'vue'
import { get, part, type JsonObject, type Schemas } from '../api/client'
import { fieldsOf, type Field } from '../people/forms'

/** Asks for the parameters of a template that answers in a conversation, where one text cannot be their values. */
export interface TemplateForm {
  /** Empty: it takes what is written, or no template answers. */
  fields: ComputedRef<Field[]>
  /** What is shown in the fields at first. */
  values: ShallowRef<JsonObject>
  /** Whether the parameters are being asked for. */
  busy: ShallowRef<boolean>
  /** Is kept when the fields are there, or when it is known why not. */
  ready: () => Promise<void>
}

/** The fields of a template, unless what is written is the value of the only one. */
export function fieldsBesideText(schema: JsonObject | undefined): Field[] {
  const all = fieldsOf(schema)
  return all.length > 1 || all.some((field) => field.type !== 'text' && field.type !== 'any') ? all : []
}

export function templateForm(chosen: () => Schemas['TemplateRow'] | undefined, fault: (error: unknown) => void): TemplateForm {
  const schema = shallowRef<JsonObject>()
  const values = shallowRef<JsonObject>({})
  const busy = shallowRef(false)
  let reading = Promise.resolve()

  async function read(row: Schemas['TemplateRow'] | undefined): Promise<void> {
    schema.value = undefined
    values.value = {}
    busy.value = row !== undefined
    if (!row) return
    const isChosen = (): boolean => chosen()?.template_id === row.template_id
    try {
      // What runs is the version that is published, and not the newest.
      const detail = await get<Schemas['TemplateDetail']>(`/templates/${part(row.template_id)}`, { version: row.published })
      if (isChosen()) schema.value = detail.input_schema as JsonObject
    } catch (error) {
      if (isChosen()) fault(error)
    } finally {
      if (isChosen()) busy.value = false
    }
  }

  watch(() => chosen()?.template_id, () => (reading = read(chosen())), { flush: 'sync' })
  return { fields: computed(() => fieldsBesideText(schema.value)), values, busy, ready: () => reading }
}
