/** Where a file is chosen, when none is open. */
import { FileClock } from 'lucide-react'

import { formatBytes } from '../../lib/format.ts'
import { FileButton } from './file-button.tsx'
import { MAX_FILE_BYTES } from './read-trace-file.ts'
import styles from './trace-file.module.css'

/** The invitation to open a file. */
export function FilePicker({ onFile }: { readonly onFile: (file: File) => void }) {
  return (
    <div className={styles['picker']}>
      <FileClock aria-hidden className={styles['icon']} />
      <h2>Open a trace</h2>
      <p>Choose a file, or drop one anywhere on this page, to look at a run as it was.</p>
      <FileButton kind="primary" onFile={onFile}>
        Choose a file
      </FileButton>
      <dl className={styles['kinds']}>
        <div>
          <dt>.trace.json</dt>
          <dd>A trace of AgentEnsemble (version 1.0 or 1.1), or one exported here</dd>
        </div>
        <div>
          <dt>.ndjson</dt>
          <dd>Events of a run, exported here; they can be replayed</dd>
        </div>
      </dl>
      <p className={styles['promise']}>
        The file is read in this browser and goes nowhere else. Up to {formatBytes(MAX_FILE_BYTES)}.
      </p>
    </div>
  )
}
