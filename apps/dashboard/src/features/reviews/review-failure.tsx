/** Why a decision was not taken. */
import { failureCode, failureProblems, failureText } from '../../api/failure.ts'
import { Notice } from '../../ui/feedback/notice.tsx'

/** The words of a failed decision, with what can be done about it. */
export function ReviewFailure({ error }: { readonly error: unknown }) {
  const problems = failureProblems(error)
  return (
    <Notice tone="failed" title={TITLES[failureCode(error) ?? ''] ?? 'This was not taken'}>
      {problems.length === 0 ? (
        <p>{failureText(error)}</p>
      ) : (
        <ul>
          {problems.map(({ path, message }) => (
            <li key={`${path} ${message}`}>{`${path.replace(/^\//, '')} ${message}`.trim()}</li>
          ))}
        </ul>
      )}
    </Notice>
  )
}

/** What can be said better than the code does. */
const TITLES: Readonly<Record<string, string>> = {
  FORBIDDEN: 'The key of this tab may read this review, and not decide it',
  CONNECTION_FAILED: 'The server was not reached; it may have taken the decision',
  TIMED_OUT: 'The server has not answered; it may have taken the decision',
  NOT_CONFIRMED: 'The decision is kept, and the run has not taken it up yet',
  BAD_REQUEST: 'The server cannot take this as it is; the review is still open',
}
