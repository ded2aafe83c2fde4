/** A choice of one value whose effects are described; the chosen one gets the focus of its dialog. */
import { useId } from 'react'

import { useForm } from './form-context.ts'
import styles from './schema-form.module.css'

import type { FormField } from './form-model.ts'

export function RadioField({ field }: { readonly field: FormField }) {
  const { set } = useForm()
  const { pointer, label, value, look } = field
  const name = useId()
  return (
    <fieldset data-pointer={pointer} className={styles['choices']} aria-label={label}>
      {look.choices?.map((choice) => (
        <label key={choice.label} className={styles['choice']}>
          <input
            type="radio"
            name={name}
            data-autofocus={choice.value === value ? true : undefined}
            checked={choice.value === value}
            onChange={() => set(pointer, choice.value)}
          />
          <strong>{choice.label}</strong>
          <span>{choice.effect}</span>
        </label>
      ))}
    </fieldset>
  )
}
