/** Everything that is wrong with the form, each with a way to its field. */
import { plural } from '../../lib/format.ts'
import { placeWords } from './drawn-fields.ts'
import styles from './submit.module.css'

import type { SubmissionDraft } from './draft.ts'
import type { Problem } from '@tutti/protocol'

/** By which it is found when it has to take the focus. */
export const SUMMARY_ID = 'submission-problems'

/** The summary. */
export function ProblemSummary({
  problems,
  draft,
  onGo,
}: {
  readonly problems: readonly Problem[]
  readonly draft: SubmissionDraft
  readonly onGo: (path: string) => void
}) {
  return (
    <div
      id={SUMMARY_ID}
      tabIndex={-1}
      role="group"
      aria-label="Problems"
      className={styles['summary']}
    >
      <p>{`${plural(problems.length, 'problem')} to mend before the run can begin`}</p>
      <ul>
        {problems.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <button type="button" onClick={() => onGo(path)}>
              {placeWords(path, draft)}
            </button>{' '}
            {message}
          </li>
        ))}
      </ul>
    </div>
  )
}
