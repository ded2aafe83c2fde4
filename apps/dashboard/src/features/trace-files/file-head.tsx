/** What a file is, above the run that it tells of. */
import { X } from 'lucide-react'

import { IconButton } from '../../ui/controls/button.tsx'
import { FileButton } from './file-button.tsx'
import styles from './trace-file.module.css'

import type { TraceFacts, TraceTable } from './trace-facts.ts'

/** The head. */
export function FileHead({
  name,
  facts,
  onFile,
  onClose,
}: {
  readonly name: string
  readonly facts: TraceFacts
  readonly onFile: (file: File) => void
  readonly onClose: () => void
}) {
  const { format, notes, missing, tables } = facts
  return (
    <header className={styles['head']}>
      <h2 className={styles['name']} title={name}>
        {name}
      </h2>
      <p className={styles['facts']}>{[format, ...notes].join(' · ')}</p>
      <div className={styles['actions']}>
        <FileButton onFile={onFile}>Open another</FileButton>
        <IconButton label="Close the file" icon={<X />} onClick={onClose} />
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
      {/* A region that scrolls can be scrolled with the keyboard. */}
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
                {cells.map((cell, place) => (
                  <td key={columns[place]}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
