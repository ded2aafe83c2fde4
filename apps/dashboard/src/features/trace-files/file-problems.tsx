/** Everything that is wrong with a file, with its place. */
import { plural } from '../../lib/format.ts'
import { Notice } from '../../ui/feedback/notice.tsx'
import { FileButton } from './file-button.tsx'
import styles from './trace-file.module.css'

import type { Problem } from '@tutti/protocol'

/** The problems of the file `name`. */
export function FileProblems({
  name,
  reason,
  problems,
  onFile,
}: {
  readonly name: string
  readonly reason: string
  readonly problems: readonly Problem[]
  readonly onFile: (file: File) => void
}) {
  return (
    <div className={styles['problems']}>
      <Notice
        tone="failed"
        title={`"${name}" cannot be shown`}
        actions={<FileButton onFile={onFile}>Choose another file</FileButton>}
      >
        <p>{reason}</p>
      </Notice>
      {problems.length > 0 && (
        <section aria-label="Problems" className={styles['found']}>
          <h2>{plural(problems.length, 'problem')}</h2>
          <ul>
            {problems.map(({ path, message }, at) => (
              // The same words can be said of one place twice.
              <li key={`${at} ${path}`}>
                <code>{path === '' ? 'The whole file' : path}</code>
                <span>{message}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}
