/** The form that submits a run: who works, how much is said of it, and what is wrong with it. */
import { Play } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { type Problem, ROUTES, routePath } from '@tutti/protocol'

import { failureText } from '../../api/failure.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { focusField, pointerOf } from '../../ui/schema-form/focus-field.ts'
import { shownProblems } from '../../ui/schema-form/placed-problems.ts'
import { ShownProblems } from './body-fields.tsx'
import { FormSections } from './form-sections.tsx'
import { placeLabel } from './submission-problems.ts'
import styles from './submit.module.css'
import { useSubmission, type Beginning } from './use-submission.ts'
import { Field } from '../../ui/controls/field.tsx'
import { TextArea } from '../../ui/controls/inputs.tsx'
import { plural } from '../../lib/format.ts'
import { access } from '../../api/access.ts'
import { curlLine } from '../../api/curl-line.ts'
import { useStore } from '../../lib/store.ts'
import { CodeBlock } from '../../ui/show/text.tsx'

import type { SubmissionDraft } from './draft.ts'

const VIEWS = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
] as const

/** The form; `note` says what it begins with. */
export function SubmitForm({ note, ...beginning }: Beginning & { readonly note: ReactNode }) {
  const { capabilities } = beginning
  const submission = useSubmission(beginning)
  const { draft, json, problems, wasTried, failure } = submission
  const form = useRef<HTMLFormElement>(null)
  const [attempt, setAttempt] = useState(0)
  const [isStuck, setStuck] = useState(false)
  const { shown, touch } = useShown(submission)
  // It was tried in vain: the reader is brought to the reasons.
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
      onBlur={({ target }) => touch(pointerOf(target))}
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
          <Notice tone="failed" title="The run was not submitted">
            <p>{failureText(failure)}</p>
            <p>Nothing is lost: a second try under the same key is the same run.</p>
          </Notice>
        )}
        {isStuck && json !== undefined && (
          <Notice tone="failed" title="The form has no place for this">
            <p>It shows a request that fits, with either tasks or changes of tasks.</p>
          </Notice>
        )}
        {json === undefined ? (
          <ShownProblems value={shown}>
            <FormSections draft={draft} capabilities={capabilities} change={submission.change} />
          </ShownProblems>
        ) : (
          <BodyAsJson text={json} problems={problems} onText={submission.typeJson} />
        )}
      </div>
      <Panel title="Request" className={styles['aside']}>
        <RequestPreview body={submission.body} />
      </Panel>
      <footer className={styles['foot']}>
        <Button type="submit" kind="primary" icon={<Play />} busy={submission.isBusy}>
          Submit the run
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

/** The problems of the fields that the reader has come to, or all of them after a try. */
function useShown({ problems, body, wasTried }: ReturnType<typeof useSubmission>) {
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const shown = useMemo(
    () => (wasTried ? problems : shownProblems(problems, body, touched)),
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
    path === '' ? `It ${message}` : `${path} ${message}`,
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

/** By which it is found when it has to take the focus. */
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
      <p>{`${plural(problems.length, 'problem')} to fix before the run can begin`}</p>
      <ul>
        {problems.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <button type="button" onClick={() => onGo(path)}>
              {placeLabel(path, draft)}
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
    return <p className={styles['soft']}>What is typed is no request yet.</p>
  }
  return (
    <div className={styles['preview']}>
      <details open>
        <summary>Body</summary>
        <CodeBlock label="body">{JSON.stringify(body, undefined, 2)}</CodeBlock>
      </details>
      <details>
        <summary>As a command</summary>
        <CodeBlock label="command">
          {curlLine({ method, path, body, hasKey: key !== undefined })}
        </CodeBlock>
      </details>
    </div>
  )
}
