/** A collapsible tree of a JSON value. */
import { useState } from 'react'

import { formatPlural } from '../../lib/format.ts'
import { parseJsonContainer } from '../../lib/parse-json-container.ts'
import styles from './json-view.module.css'
import { CodeBlock, CopyBlock, Text } from './text.tsx'

/** Maximum number of members shown at once. */
const SHOWN = 100

interface JsonViewProps {
  readonly value: unknown
  readonly label: string
  readonly depth?: number
}

/** A value, with `depth` levels open. */
export function JsonView({ value, label, depth = 2 }: JsonViewProps) {
  return (
    <CopyBlock text={() => JSON.stringify(value, undefined, 2)} label={label}>
      <div className={styles['tree']}>
        <Node value={value} depth={depth} />
      </div>
    </CopyBlock>
  )
}

/** Text that may be JSON: a tree for an object or list, otherwise plain text. */
export function JsonText({ text, label }: { readonly text: string; readonly label: string }) {
  const value = parseJsonContainer(text)
  if (value === undefined) return <CodeBlock label={label}>{text}</CodeBlock>
  return <JsonView value={value} label={label} />
}

function Node({ value, depth }: { readonly value: unknown; readonly depth: number }) {
  if (typeof value !== 'object' || value === null) return <Leaf value={value} />
  return <Branch value={value} depth={depth} />
}

function Leaf({ value }: { readonly value: unknown }) {
  if (typeof value !== 'string') return <span className={styles['atom']}>{String(value)}</span>
  return (
    <Text kind="code" className={styles['string'] ?? ''}>
      {value === '' ? '""' : value}
    </Text>
  )
}

function Branch({ value, depth }: { readonly value: object; readonly depth: number }) {
  const [isOpen, setOpen] = useState(depth > 0)
  const [shown, setShown] = useState(SHOWN)
  const isList = Array.isArray(value)
  const entries = Object.entries(value)
  const size = isList ? formatPlural(entries.length, 'item') : formatPlural(entries.length, 'field')
  if (entries.length === 0) return <span className={styles['atom']}>{isList ? '[ ]' : '{ }'}</span>
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{size}</summary>
      {isOpen && (
        <ul>
          {entries.slice(0, shown).map(([key, member]) => (
            <li key={key}>
              <span className={styles['key']}>{key}</span>
              <Node value={member} depth={depth - 1} />
            </li>
          ))}
          {entries.length > shown && (
            <li>
              <button type="button" onClick={() => setShown(shown + 10 * SHOWN)}>
                {`Show ${entries.length - shown} more`}
              </button>
            </li>
          )}
        </ul>
      )}
    </details>
  )
}
