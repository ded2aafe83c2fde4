/**
 * Shows text: model output, arguments, code. Long text is cut until the reader asks for all of it.
 */
import { Check, Copy } from 'lucide-react'
import { lazy, Suspense, useState, type ReactNode } from 'react'

import { cx } from '../../lib/cx.ts'
import { formatBytes } from '../../lib/format.ts'
import { useCopy } from '../../lib/use-copy.ts'
import { Button, IconButton } from '../controls/button.tsx'
import styles from './text.module.css'

/** Maximum number of characters shown at first; megabytes of text slow down the page. */
const SHOWN = 20_000

/** Loaded when it is first needed. */
const Markdown = lazy(() => import('./markdown.tsx'))

interface TextProps {
  readonly children: string
  readonly kind?: 'prose' | 'code' | 'markdown'
  readonly className?: string
  /**
   * Whether a surrounding Suspense waits for the Markdown renderer. Otherwise the source is shown
   * until it is loaded, and the content below moves when it is rendered.
   *
   * @default false
   */
  readonly isAwaited?: boolean
}

/**
 * A text; `kind` is `prose` for natural language, `code` for monospaced text, `markdown` for
 * rendered Markdown.
 */
export function Text({ children, kind = 'prose', className, isAwaited = false }: TextProps) {
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

interface CodeBlockProps {
  readonly children: string
  readonly label: string
}

/** A block of code with a button that copies it. */
export function CodeBlock({ children, label }: CodeBlockProps) {
  return (
    <CopyBlock text={children} label={label}>
      <Text kind="code">{children}</Text>
    </CopyBlock>
  )
}

interface CopyBlockProps {
  readonly text: string | (() => string)
  /** Names the copied text. */
  readonly label: string
  readonly children: ReactNode
}

/** A block with a button that copies its text. */
export function CopyBlock({ text, label, children }: CopyBlockProps) {
  return (
    <div className={styles['block']}>
      {children}
      <CopyButton text={text} label={`Copy ${label}`} className={styles['copy']} />
    </div>
  )
}

interface CopyButtonProps {
  readonly text: string | (() => string)
  readonly label: string
  readonly className?: string | undefined
}

/** A button that copies a text; pass a function if the text is expensive to compute. */
export function CopyButton({ text, label, className }: CopyButtonProps) {
  const [copy, state] = useCopy()
  const currentLabel = { idle: label, copied: 'Copied', failed: 'Copying failed' }[state]
  return (
    <IconButton
      label={currentLabel}
      icon={state === 'copied' ? <Check /> : <Copy />}
      className={className}
      onClick={() => copy(typeof text === 'string' ? text : text())}
    />
  )
}
