/** Controls that take a value. They look alike and are the browser's own. */
import { cx } from '../../lib/cx.ts'
import styles from './inputs.module.css'

import type { ComponentProps, ReactNode } from 'react'

export function TextInput({ className, ...rest }: ComponentProps<'input'>) {
  return <input type="text" {...rest} className={cx(styles['input'], className)} />
}

/** Several lines of text; it grows with what is in it. `code` is for what is no prose. */
export function TextArea({
  className,
  code = false,
  ...rest
}: ComponentProps<'textarea'> & { readonly code?: boolean }) {
  return (
    <textarea
      rows={3}
      spellCheck={!code}
      {...rest}
      className={cx(styles['input'], styles['area'], code && styles['code'], className)}
    />
  )
}

/** One of several; `children` are its `<option>`s. */
export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return <select {...rest} className={cx(styles['input'], styles['select'], className)} />
}

export function Checkbox({
  children,
  ...rest
}: ComponentProps<'input'> & { readonly children: ReactNode }) {
  return (
    <label className={styles['check']}>
      <input type="checkbox" {...rest} />
      <span>{children}</span>
    </label>
  )
}
