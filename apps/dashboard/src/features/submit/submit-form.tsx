/** The form that submits a run. */
import { Play } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { ROUTES, routePath } from '@tutti/protocol'
import type { Problem } from '@tutti/protocol/internal'

import { readFailureText } from '../../api/failure.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { focusField, findPointer } from '../../ui/schema-form/focus-field.ts'
import { selectShownProblems } from '../../ui/schema-form/placed-problems.ts'
import { FormSections } from './form-sections.tsx'
import { labelPath } from './submission-problems.ts'
import styles from './submit.module.css'
import { useSubmission, type Beginning } from './use-submission.ts'
import { Field } from '../../ui/controls/field.tsx'
import { TextArea } from '../../ui/controls/inputs.tsx'
import { formatPlural } from '../../lib/format.ts'
import { access } from '../../api/access.ts'
import { formatCurl } from '../../api/curl-line.ts'
import { useStore } from '../../lib/store.ts'
import { CodeBlock } from '../../ui/show/text.tsx'

import type { SubmissionDraft } from './draft.ts'

const VIEWS = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
] as const

/** The form; `note` describes its initial values. */
export function SubmitForm({ note, ...beginning }: Beginning & { readonly note: ReactNode }) {
  const { capabilities } = beginning
  const submission = useSubmission(beginning)
  const { draft, json, problems, wasTried, failure } = submission
  const form = useRef<HTMLFormElement>(null)
  const [attempt, setAttempt] = useState(0)
  const [isStuck, setStuck] = useState(false)
  const { shown, touch } = useShownProblems(submission)
  // After a rejected attempt, move the focus to the problems.
  useEffect(() => {
    if (attempt > 0) document.getElementById(SUMMARY_ID)?.focus()
  }, [attempt])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!submission.isBusy) submission.send(() => setAttempt((before) => before + 1))
  }
  return (
    <form
      ref={form}
      noValidate
      className={styles['page']}
      onSubmit={submit}
      onBlur={({ target }) => touch(findPointer(target))}
    >
      <header className={styles['head']}>
        <h1>New run</h1>
        <Segmented
          label="Request as"
          value={json === undefined ? 'form' : 'json'}
          segments={VIEWS}
          onChange={(view) => setStuck(!submission.showJson(view === 'json'))}
        />
      </header>
      <div className={styles['main']}>
        {note}
        {wasTried && problems.length > 0 && (
          <ProblemSummary
            problems={problems}
            draft={draft}
            onGo={(path) => form.current !== null && focusField(form.current, path)}
          />
        )}
        {failure !== null && (
          <Notice tone="failed" title="Failed to submit the run">
            <p>{readFailureText(failure)}</p>
            <p>You can try again: the same idempotency key never starts a second run.</p>
          </Notice>
        )}
        {isStuck && json !== undefined && (
          <Notice tone="failed" title="The form cannot show this request">
            <p>It supports valid requests with either tasks or task overrides.</p>
          </Notice>
        )}
        {json === undefined ? (
          <FormSections submission={submission} capabilities={capabilities} problems={shown} />
        ) : (
          <BodyAsJson text={json} problems={problems} onText={submission.typeJson} />
        )}
      </div>
      <Panel title="Request" className={styles['aside']}>
        <RequestPreview body={submission.body} />
      </Panel>
      <footer className={styles['foot']}>
        <Button type="submit" kind="primary" icon={<Play />} busy={submission.isBusy}>
          Submit run
        </Button>
        {submission.isTyped && (
          <Button kind="quiet" onClick={submission.discard}>
            Discard
          </Button>
        )}
      </footer>
    </form>
  )
}

/** Returns the problems of visited fields, or all of them after an attempt. */
function useShownProblems({ problems, body, wasTried }: ReturnType<typeof useSubmission>) {
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const shown = useMemo(
    () => (wasTried ? problems : selectShownProblems(problems, body, touched)),
    [problems, body, touched, wasTried],
  )
  const touch = (path: string | undefined): void => {
    if (path !== undefined && !touched.has(path)) setTouched(new Set([...touched, path]))
  }
  return { shown, touch }
}

function BodyAsJson({
  text,
  problems,
  onText,
}: {
  readonly text: string
  readonly problems: readonly Problem[]
  readonly onText: (text: string) => void
}) {
  const errors = problems.map(({ path, message }) =>
    path === '' ? `The request ${message}` : `${path} ${message}`,
  )
  return (
    <Panel title="Request">
      <div data-pointer="">
        <Field label="Body as JSON" errors={errors}>
          {(control) => (
            <TextArea
              {...control}
              code
              rows={18}
              autoComplete="off"
              value={text}
              onChange={({ target }) => onText(target.value)}
            />
          )}
        </Field>
      </div>
    </Panel>
  )
}

/** Id of the element that receives the focus after a rejected attempt. */
const SUMMARY_ID = 'submission-problems'

function ProblemSummary({
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
      <p>{`${formatPlural(problems.length, 'problem')} to fix before the run can start`}</p>
      <ul>
        {problems.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <button type="button" onClick={() => onGo(path)}>
              {labelPath(path, draft)}
            </button>{' '}
            {message}
          </li>
        ))}
      </ul>
    </div>
  )
}

function RequestPreview({ body }: { readonly body: unknown }) {
  const { key } = useStore(access)
  const { method } = ROUTES.submitRun
  const path = routePath('submitRun')
  if (body === undefined) {
    return <p className={styles['soft']}>No valid request yet.</p>
  }
  return (
    <div className={styles['preview']}>
      <details open>
        <summary>Body</summary>
        <CodeBlock label="body">{JSON.stringify(body, undefined, 2)}</CodeBlock>
      </details>
      <details>
        <summary>Command</summary>
        <CodeBlock label="command">
          {formatCurl({ method, path, body, hasKey: key !== undefined })}
        </CodeBlock>
      </details>
    </div>
  )
}
