/** The form that submits a run: who works, how much is said of it, and what is wrong with it. */
import { Play } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, type FormEvent } from 'react'

import { failureText } from '../../api/failure.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { focusField, pointerOf } from '../../ui/schema-form/focus-field.ts'
import { placedProblems, shownProblems } from '../../ui/schema-form/placed-problems.ts'
import { BodyAsJson } from './body-as-json.tsx'
import { drawnPointers } from './drawn-fields.ts'
import { FormErrors } from './form-errors.ts'
import { FormSections } from './form-sections.tsx'
import { ProblemSummary, SUMMARY_ID } from './problem-summary.tsx'
import { RequestPreview } from './request-preview.tsx'
import styles from './submit.module.css'
import { useSubmission, type Beginning } from './use-submission.ts'

import type { ReactNode } from 'react'

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
  const { placed, touch } = usePlaced(submission, capabilities)
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
          <FormErrors value={placed}>
            <FormSections draft={draft} capabilities={capabilities} change={submission.change} />
          </FormErrors>
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

/** What is told at which field, as the reader comes to them, or everything after a try. */
function usePlaced(
  { problems, body, draft, wasTried }: ReturnType<typeof useSubmission>,
  { ensembles }: Beginning['capabilities'],
) {
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const placed = useMemo(() => {
    const told = wasTried ? problems : shownProblems(problems, body, touched)
    return placedProblems(told, drawnPointers(draft, ensembles))
  }, [problems, body, touched, wasTried, draft, ensembles])
  const touch = (path: string | undefined): void => {
    if (path !== undefined && !touched.has(path)) setTouched(new Set([...touched, path]))
  }
  return { placed, touch }
}
