/** What is typed to submit a run, what is wrong with it, and sending it. */
import { useMutation } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'

import { failureCode } from '../../api/failure.ts'
import { runHref } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { goTo } from '../../lib/router.ts'
import { toast } from '../../ui/feedback/toasts.tsx'
import { draftOfBody } from './draft-of-body.ts'
import {
  refusalsOf,
  standing,
  type Refusal,
  readTypedBody,
  submissionProblems,
} from './submission-problems.ts'
import { bodyOf } from './submission.ts'
import { inputNames } from './variables.ts'

import type { Capabilities, EnsembleInfo, Problem, SubmitRunBody } from '@tutti/protocol'

import type { SubmissionDraft } from './draft.ts'

/** What a submission begins with. */
export interface Beginning {
  /** The run that it is like. */
  readonly from: string | undefined
  readonly capabilities: Capabilities
  /** What there is to begin with: nothing typed, or what a run was asked for. */
  readonly initial: SubmissionDraft
  /** What was typed before. */
  readonly kept: Submission | undefined
}

/** A submission that is being typed. */
export function useSubmission({ from, capabilities, initial, kept }: Beginning) {
  const { ensembles } = capabilities
  const [submission, setSubmission] = useState<Submission>(kept ?? { draft: initial })
  const latest = useRef(submission)
  const [refusals, setRefusals] = useState<readonly Refusal[]>([])
  const [wasTried, setTried] = useState(false)
  const keep = (next: Submission): void => {
    latest.current = next
    setSubmission(next)
    keepSubmission(from, next)
  }
  const { draft, json } = submission
  const { body, own } = useMemo(() => {
    if (json === undefined) {
      const made = bodyOf(draft, ensembles)
      return { body: made, own: submissionProblems(draft, made, capabilities) }
    }
    const read = readTypedBody(json)
    return read.ok ? { body: read.body, own: [] } : { body: undefined, own: read.problems }
  }, [draft, json, ensembles, capabilities])
  const problems: readonly Problem[] = useMemo(
    () => [...own, ...standing(refusals, body)],
    [own, refusals, body],
  )
  const submit = useSubmit(from)
  return {
    draft,
    json,
    body,
    problems,
    wasTried,
    isTyped: draft !== initial || json !== undefined,
    isBusy: submit.isPending,
    failure: refusals.length > 0 ? null : submit.error,
    change: (next: (draft: SubmissionDraft) => SubmissionDraft) =>
      keep({ ...latest.current, draft: next(latest.current.draft) }),
    typeJson: (text: string) => keep({ ...latest.current, json: text }),
    /** Goes between the form and the JSON; false when the form has no place for what the JSON says. */
    showJson(isJson: boolean): boolean {
      if (isJson) {
        keep({ ...latest.current, json: JSON.stringify(body, undefined, 2) })
        return true
      }
      const read = readTypedBody(json ?? '')
      const next = read.ok ? draftOfBody(read.body, ensembles) : undefined
      if (next === undefined) return false
      keep({ ...latest.current, draft: withTyped(next, draft, ensembles), json: undefined })
      return true
    },
    discard() {
      keepSubmission(from, undefined)
      latest.current = { draft: initial }
      setSubmission(latest.current)
      setRefusals([])
      setTried(false)
      submit.reset()
    },
    /** Sends the body; false when it has problems that the reader is told of now, or will be. */
    send(onRefused: () => void) {
      setTried(true)
      if (own.length > 0) return onRefused()
      const key = submissionKey(latest.current.sent, JSON.stringify(body))
      keep({ ...latest.current, sent: { key, body: JSON.stringify(body) } })
      // NOTE: a body without problems is one.
      const input = { body: body as SubmitRunBody, key }
      submit.mutate(input, {
        onError(error) {
          setRefusals(refusalsOf(error, body))
          if (failureCode(error) === 'IDEMPOTENCY_CONFLICT') {
            keep({ ...latest.current, sent: undefined })
          }
          onRefused()
        },
      })
    },
  }
}

/** Sends a body; then goes to its run, and keeps nothing of what was typed. */
function useSubmit(from: string | undefined) {
  const { client } = useServer()
  return useMutation({
    mutationFn: ({ body, key }: { readonly body: SubmitRunBody; readonly key: string }) =>
      client.runs.submit(body, { idempotencyKey: key }),
    onSuccess({ runId }) {
      keepSubmission(from, undefined)
      goTo(runHref(runId))
    },
  })
}

/**
 * The draft of the JSON, with what was typed for other ensembles and at other levels; what the JSON could have
 * said and does not say is gone.
 */
function withTyped(
  next: SubmissionDraft,
  before: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): SubmissionDraft {
  const { needed, perhaps } = inputNames(next, ensembles)
  const others = Object.entries(before.inputs).filter(
    ([name]) => !needed.includes(name) && !perhaps.includes(name),
  )
  const isUnchanged = next.level === 'inputs' && before.level === 'overrides'
  const ensemble = next.ensemble ?? ensembles[0]?.name ?? ''
  return {
    ...next,
    level: isUnchanged ? 'overrides' : next.level,
    inputs: { ...Object.fromEntries(others), ...next.inputs },
    overrides: {
      ...before.overrides,
      ...(isUnchanged ? { [ensemble]: {} } : next.overrides),
    },
    tasks: next.level === 'tasks' ? next.tasks : before.tasks,
  }
}

/** Where the browser keeps it; the number changes with the shape. */
const PLACE = 'tutti.submission.2'

/** What is typed, and under which key it was sent. */
interface Submission {
  readonly draft: SubmissionDraft
  /** The body as text, while it is typed as JSON. */
  readonly json?: string | undefined
  /** The key of the last try, and the body that it is for. */
  readonly sent?: { readonly key: string; readonly body: string } | undefined
}

/** What was typed before; `from` is the run that it began with. */
export function keptSubmission(from: string | undefined): Submission | undefined {
  const text = sessionStorage.getItem(placeOf(from))
  // NOTE: only `keepSubmission` writes there.
  return text === null ? undefined : (JSON.parse(text) as Submission)
}

/** Keeps what is typed, or nothing more; says so when it is more than the browser keeps. */
function keepSubmission(from: string | undefined, submission: Submission | undefined): void {
  const place = placeOf(from)
  if (submission === undefined) sessionStorage.removeItem(place)
  else {
    try {
      sessionStorage.setItem(place, JSON.stringify(submission))
    } catch {
      toast('What you typed is too large to be kept when you leave this page', 'failed')
    }
  }
}

function placeOf(from: string | undefined): string {
  return from === undefined ? PLACE : `${PLACE}.${from}`
}

/** The key of the last try when this is the same body, else a new one. */
export function submissionKey(sent: Submission['sent'], body: string): string {
  return sent?.body === body ? sent.key : newKey()
}

/** Not `randomUUID`, which pages that were not served over a safe connection do not have. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
