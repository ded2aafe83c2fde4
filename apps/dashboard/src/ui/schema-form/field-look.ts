/** Presentation of a field, in addition to its schema: labels of choices, hints, sizes. Pure. */
import { keywordText, asList, type FormSchema } from './schema.ts'

import type { FormField } from './form-model.ts'
import type { ReactNode } from 'react'

/** A value to choose, and its label. */
export interface FieldChoice {
  readonly value: unknown
  readonly label: string
  /** Heading that the choice is listed under. */
  readonly group?: string
  /** Effect of the choice; radio buttons show it. */
  readonly effect?: string
}

/** Presentation of a field. Values that are absent follow from its schema. */
export interface FieldLook {
  readonly label?: string
  readonly hint?: string | undefined
  readonly placeholder?: string
  /** Label of the empty choice; null if a value is always chosen. */
  readonly none?: string | null
  /** Choices that are not in the schema. A list of texts is then a selection of several. */
  readonly choices?: readonly FieldChoice[]
  /** Whether the choices are radio buttons instead of a menu. */
  readonly isRadio?: boolean
  /** A multi-line text that starts with this number of lines. */
  readonly rows?: number
  readonly isCode?: boolean
  /** Whether it is marked as required. @default as in the schema */
  readonly isRequired?: boolean
  readonly isReadOnly?: boolean
  /** Shown at the end of the label's line. */
  readonly aside?: ReactNode
  /** Whether it gets the focus when its dialog opens. */
  readonly hasFocus?: boolean
}

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
