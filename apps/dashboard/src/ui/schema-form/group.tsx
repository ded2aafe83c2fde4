/** Renders a field with nested fields: its name, actions and errors. */
import { Plus, X } from 'lucide-react'

import { useId, type ReactNode } from 'react'

import { Button, IconButton } from '../controls/button.tsx'
import { Errors } from '../controls/field.tsx'
import { useForm } from './form-context.ts'
import styles from './schema-form.module.css'

import type { FormField } from './form-model.ts'

/** A group. `children` are its fields, shown while it is set; `initial` is its first value. */
export function Group({
  field,
  initial,
  actions,
  isOuter = false,
  isBare = false,
  children,
}: {
  readonly field: FormField
  readonly initial: () => unknown
  readonly actions?: ReactNode
  /** Whether a nested field has the same pointer and shows the errors. */
  readonly isOuter?: boolean
  /** Whether the surroundings show the name. */
  readonly isBare?: boolean
  readonly children: ReactNode
}) {
  const { errors: errorsAt } = useForm()
  const id = useId()
  const { pointer, label, description, hint, isGiven, isRequired, isItem, isNullable, value } =
    field
  const errors = isOuter ? [] : errorsAt(pointer, true)
  const isNull = isGiven && value === null && isNullable
  const isOpen = (isGiven || isRequired) && !isNull
  const note = [description, hint].filter(Boolean).join(' · ')
  const isWhole = pointer === '' || isBare
  return (
    <fieldset
      data-pointer={isOuter ? undefined : pointer}
      className={isWhole ? styles['whole'] : styles['group']}
      aria-labelledby={isWhole ? undefined : `${id}-name`}
      aria-label={isBare ? label : undefined}
      aria-describedby={errors.length > 0 ? `${id}-errors` : undefined}
    >
      {!isWhole && (
        <div className={styles['head']}>
          <span id={`${id}-name`} className={styles['name']}>
            {label}
          </span>
          {isRequired && !isItem && <span className={styles['required']}>required</span>}
          {isNull && <code>null</code>}
          <span className={styles['actions']}>
            {isOpen && actions}
            <GroupActions field={field} initial={initial} />
          </span>
        </div>
      )}
      {note !== '' && <p className={styles['note']}>{note}</p>}
      <Errors id={`${id}-errors`} errors={errors} />
      {isOpen && children}
    </fieldset>
  )
}

/** Buttons that set an absent value and remove an optional one. */
function GroupActions({
  field: { pointer, label, isGiven, isRequired, isItem, isNullable, value },
  initial,
}: {
  readonly field: FormField
  readonly initial: () => unknown
}) {
  const { set, remove } = useForm()
  const isNull = isGiven && value === null && isNullable
  const isOpen = (isGiven || isRequired) && !isNull
  return (
    <>
      {(!isOpen || isNull) && (
        <Button
          size="s"
          icon={<Plus />}
          aria-label={`Set ${label}`}
          onClick={() => set(pointer, initial())}
        >
          Set
        </Button>
      )}
      {isNullable && !isNull && !isItem && (
        <Button size="s" aria-label={`Set ${label} to null`} onClick={() => set(pointer, null)}>
          null
        </Button>
      )}
      {isGiven && !isRequired && (
        <IconButton label={`Remove ${label}`} icon={<X />} onClick={() => remove(pointer)} />
      )}
    </>
  )
}
