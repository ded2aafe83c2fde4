/** Text as it came: output of a model, arguments, code. Long text is cut until somebody asks for all of it. */
import { Check, Copy } from 'lucide-react'
import { lazy, Suspense, useState, type ReactNode } from 'react'

import { cx } from '../../lib/cx.ts'
import { formatBytes } from '../../lib/format.ts'
import { useCopy } from '../../lib/use-copy.ts'
import { Button, IconButton } from '../controls/button.tsx'
import styles from './text.module.css'

/** More characters than fill some screens; a page with megabytes of text is slow. */
const SHOWN = 20_000

/** Prose that may be Markdown is drawn by a library that is loaded when it is first needed. */
const Markdown = lazy(() => import('./markdown.tsx'))

/** Text; `kind` is `prose` for words of people and models, `code` for the rest, `markdown` to draw it. */
export function Text({
  children,
  kind = 'prose',
  className,
  isAwaited = false,
}: {
  readonly children: string
  readonly kind?: 'prose' | 'code' | 'markdown'
  readonly className?: string
  /**
   * Whether a Suspense around it waits for the library that draws. Else the source is shown until it is
   * there, and what is below moves when it is drawn.
   *
   * @default false
   */
  readonly isAwaited?: boolean
}) {
  const [isWhole, setWhole] = useState(false)
  const isCut = !isWhole && children.length > SHOWN
  const text = isCut ? children.slice(0, SHOWN) : children
  const plain = (
    <div className={cx(kind === 'code' ? styles['code'] : styles['prose'], className)}>{text}</div>
  )
  const drawn = <Markdown className={className}>{text}</Markdown>
  return (
    <>
      {kind !== 'markdown' && plain}
      {kind === 'markdown' && isAwaited && drawn}
      {kind === 'markdown' && !isAwaited && <Suspense fallback={plain}>{drawn}</Suspense>}
      {isCut && (
        <Button size="s" onClick={() => setWhole(true)}>
          {`Show all ${formatBytes(children.length)}`}
        </Button>
      )}
    </>
  )
}

/** A block of code with a button that copies it. */
export function CodeBlock({
  children,
  label,
}: {
  readonly children: string
  readonly label: string
}) {
  return (
    <CopyBlock text={children} label={label}>
      <Text kind="code">{children}</Text>
    </CopyBlock>
  )
}

/** A block with a button that copies what is in it. */
export function CopyBlock({
  text,
  label,
  children,
}: {
  readonly text: string | (() => string)
  /** What is copied. */
  readonly label: string
  readonly children: ReactNode
}) {
  return (
    <div className={styles['block']}>
      {children}
      <CopyButton text={text} label={`Copy ${label}`} className={styles['copy']} />
    </div>
  )
}

/** A button that copies a text; one that takes work to make is given as a function. */
export function CopyButton({
  text,
  label,
  className,
}: {
  readonly text: string | (() => string)
  readonly label: string
  readonly className?: string | undefined
}) {
  const [copy, state] = useCopy()
  const said = { idle: label, copied: 'Copied', failed: 'The browser did not copy it' }[state]
  return (
    <IconButton
      label={said}
      icon={state === 'copied' ? <Check /> : <Copy />}
      className={className}
      onClick={() => copy(typeof text === 'string' ? text : text())}
    />
  )
}
