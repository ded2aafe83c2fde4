/** The files that a run has changed. */
import { formatClock } from '../../lib/format.ts'
import styles from './changed-files.module.css'
import { Facts } from './facts.tsx'

import type { FileChange } from '@tutti/protocol'

const CHANGES: Readonly<Record<FileChange['changeType'], string>> = {
  CREATED: 'created',
  MODIFIED: 'modified',
  DELETED: 'deleted',
}

/** Every change, in order; nothing when there is none. */
export function ChangedFiles({ files }: { readonly files: readonly FileChange[] }) {
  if (files.length === 0) return null
  return (
    <Facts title="Changed files">
      <ol className={styles['files']}>
        {files.map((file, at) => (
          // A run only gains changes.
          <li key={`${at}-${file.filePath}`}>
            <code className={styles['path']}>{file.filePath}</code>
            <span className={styles['facts']}>
              {CHANGES[file.changeType]} by {file.agentRole} +{file.linesAdded} −{file.linesRemoved}{' '}
              {formatClock(Date.parse(file.timestamp))}
            </span>
          </li>
        ))}
      </ol>
    </Facts>
  )
}
