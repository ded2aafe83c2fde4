/** Opens a trace file and shows it as a run. The file is read in the browser and never uploaded. */
import { Fragment, useState, type DragEvent, type ReactNode, useRef } from 'react'
import { X, FileClock } from 'lucide-react'

import { cx } from '../../lib/cx.ts'
import { ShownTime } from '../../lib/use-now.ts'
import { Loading, Notice } from '../../ui/feedback/notice.tsx'
import { IconButton, Button, type ButtonKind } from '../../ui/controls/button.tsx'
import { formatBytes, formatPlural } from '../../lib/format.ts'
import { useOpenedFile } from './use-opened-file.ts'
import { MAX_TRACE_FILE_BYTES } from './read-trace-file.ts'
import hidden from '../../ui/show/visually-hidden.module.css'
import page from '../../ui/layout/page.module.css'
import styles from './trace-file.module.css'

import type { RunState } from '@tutti/protocol'
import type { Problem } from '@tutti/protocol/internal'

import type { FollowedLog } from '../../api/run-log.ts'
import type { TraceFacts, TraceTable } from './trace-facts.ts'

/** The page; `children` renders the run of a file, with its log if the file contains events. */
export function TraceFile({
  children,
}: {
  readonly children: (state: RunState, log?: FollowedLog) => ReactNode
}) {
  const { opened, open, close } = useOpenedFile()
  const [isOver, setOver] = useState(false)
  const drop = {
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes('Files')) return
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: (event: DragEvent) => {
      // NOTE: the related target is an element of this page, or null.
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      setOver(false)
      const [file] = event.dataTransfer.files
      if (file !== undefined) open(file)
    },
  }
  return (
    <div className={cx(page['column'], isOver && styles['over'])} role="presentation" {...drop}>
      <h1 className={hidden['hidden']}>Trace files</h1>
      {opened.phase === 'none' && <FilePicker onFile={open} />}
      {opened.phase === 'reading' && (
        <Loading label={`Reading ${opened.name}: ${Math.round(opened.done * 100)} %`} />
      )}
      {opened.phase === 'failed' && <FileProblems {...opened} onFile={open} />}
      {opened.phase === 'open' && (
        <Fragment key={opened.count}>
          <FileHead name={opened.name} facts={opened.facts} onFile={open} onClose={close} />
          <ShownTime value={opened.at}>{children(opened.state, opened.log)}</ShownTime>
        </Fragment>
      )}
    </div>
  )
}

interface FileHeadProps {
  readonly name: string
  readonly facts: TraceFacts
  readonly onFile: (file: File) => void
  readonly onClose: () => void
}

function FileHead({ name, facts, onFile, onClose }: FileHeadProps) {
  const { format, notes, missing, tables } = facts
  return (
    <header className={styles['head']}>
      <h2 className={styles['name']} title={name}>
        {name}
      </h2>
      <p className={styles['facts']}>{[format, ...notes].join(' · ')}</p>
      <div className={styles['actions']}>
        <FileButton onFile={onFile}>Open another file</FileButton>
        <IconButton label="Close file" icon={<X />} onClick={onClose} />
      </div>
      {(missing.length > 0 || tables.length > 0) && (
        <details className={styles['more']}>
          <summary>About this file</summary>
          <div className={styles['about']}>
            {missing.length > 0 && (
              <section>
                <h3>Not in this file</h3>
                <ul className={styles['missing']}>
                  {missing.map((what) => (
                    <li key={what}>{what}</li>
                  ))}
                </ul>
              </section>
            )}
            {tables.map((table) => (
              <FactTable key={table.title} table={table} />
            ))}
          </div>
        </details>
      )}
    </header>
  )
}

function FactTable({ table: { title, columns, rows } }: { readonly table: TraceTable }) {
  return (
    <section>
      <h3>{title}</h3>
      {/* Scrollable regions need to be reachable by keyboard. */}
      <div role="region" aria-label={title} tabIndex={0} className={styles['scroll']}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells, at) => (
              <tr key={`${at}`}>
                {cells.map((cell, index) => (
                  <td key={columns[index]}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function FilePicker({ onFile }: { readonly onFile: (file: File) => void }) {
  return (
    <div className={styles['picker']}>
      <FileClock aria-hidden className={styles['icon']} />
      <h2>Open a trace</h2>
      <p>Choose a file, or drop one anywhere on this page, to view its run.</p>
      <FileButton kind="primary" onFile={onFile}>
        Choose file
      </FileButton>
      <dl className={styles['kinds']}>
        <div>
          <dt>.trace.json</dt>
          <dd>Traces of AgentEnsemble (version 1.0 or 1.1) or exported here</dd>
        </div>
        <div>
          <dt>.ndjson</dt>
          <dd>Events of a run exported here, which can be replayed</dd>
        </div>
      </dl>
      <p className={styles['promise']}>
        The file is read in the browser and never uploaded. Maximum size:{' '}
        {formatBytes(MAX_TRACE_FILE_BYTES)}.
      </p>
    </div>
  )
}

interface FileProblemsProps {
  readonly name: string
  readonly reason: string
  readonly problems: readonly Problem[]
  readonly onFile: (file: File) => void
}

/** Shows the problems of a file. */
function FileProblems({ name, reason, problems, onFile }: FileProblemsProps) {
  return (
    <div className={styles['problems']}>
      <Notice
        tone="failed"
        title={`Cannot show "${name}"`}
        actions={<FileButton onFile={onFile}>Choose another file</FileButton>}
      >
        <p>{reason}</p>
      </Notice>
      {problems.length > 0 && (
        <section aria-label="Problems" className={styles['found']}>
          <h2>{formatPlural(problems.length, 'problem')}</h2>
          <ul>
            {problems.map(({ path, message }, at) => (
              // The same problem can occur twice at one path.
              <li key={`${at} ${path}`}>
                <code>{path === '' ? 'File' : path}</code>
                <span>{message}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

interface FileButtonProps {
  readonly onFile: (file: File) => void
  readonly kind?: ButtonKind
  readonly children: string
}

/** A button that opens a file; the same file can be chosen again. */
function FileButton({ onFile, kind = 'plain', children }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button kind={kind} onClick={() => input.current?.click()}>
        {children}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".json,.ndjson,.jsonl,application/json,application/x-ndjson"
        aria-label={children}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          currentTarget.value = ''
          if (file !== undefined) onFile(file)
        }}
      />
    </>
  )
}
