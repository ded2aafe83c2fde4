/** Applies the presentation of a field: its label, its choices and its control. Pure. */
import { keywordText, asList, type FormSchema } from './schema.ts'

import type { FieldChoice, FieldLook } from './field-look.ts'
import type { FormField } from './form-model.ts'

/** Returns the field with its presentation. */
export function applyLook(field: FormField, look: FieldLook): FormField {
  const { schema, pointer, isRequired } = field
  const base = {
    ...field,
    label:
      look.label ??
      keywordText(schema.title) ??
      toWords(pointer.slice(pointer.lastIndexOf('/') + 1)),
    description: 'hint' in look ? look.hint : field.description,
    hint: undefined,
    isRequired: look.isRequired ?? isRequired,
    look,
  }
  const choices = look.choices ?? listChoices(schema)
  if (choices === undefined) {
    if (field.kind !== 'text') return base
    return { ...base, kind: 'text', input: look.rows === undefined ? 'text' : 'area' }
  }
  const options = choices.map(({ value }) => value)
  const kind = schema.type === 'array' ? 'picks' : 'choice'
  return { ...base, kind, options, look: { ...look, choices } }
}

/** Returns the values of an enum with labels, such as `After every task` for `AFTER_EVERY_TASK`. */
function listChoices(schema: FormSchema): readonly FieldChoice[] | undefined {
  if (schema.type === 'boolean') {
    return [
      { value: true, label: 'Yes' },
      { value: false, label: 'No' },
    ]
  }
  if (schema.enum === undefined) return undefined
  return asList(schema.enum).map((value) => ({ value, label: toWords(String(value)) }))
}

/** `AFTER_EVERY_TASK` and `afterEveryTask` become `After every task`. */
function toWords(name: string): string {
  const words = name
    .replaceAll('_', ' ')
    .replaceAll(/(?<=[a-z])[A-Z]/g, ' $&')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
