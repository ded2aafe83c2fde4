/** Presentation of a field, in addition to its schema: labels of choices, hints, sizes. */
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
