/** The dialog that forks a run from a task or from one of its model calls. Loaded when first needed. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useId, useMemo, useState } from 'react'

import { findFailureCode, findFailureProblems, readFailureText } from '../../api/failure.ts'
import { linkToRun } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { createRandomKey } from '../../lib/random-key.ts'
import { goTo } from '../../lib/router.ts'
import { useSettled } from '../../lib/use-settled.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { Checkbox, TextArea } from '../../ui/controls/inputs.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { toast } from '../../ui/feedback/toasts.tsx'
import { Dialog } from '../../ui/layout/dialog.tsx'
import {
  buildForkBody,
  changesPrompt,
  createForkForm,
  findForkPrompt,
  findSeqBeforeTurn,
  type ForkForm,
  type ForkOrigin,
  type ForkStart,
} from './fork-form.ts'
import { ForkPreviewView } from './fork-preview.tsx'
import styles from './fork-dialog.module.css'

import type { ForkBody } from '@tutti/client/internal'
import type { LoggedRunEvent, RunState } from '@tutti/protocol'
import type { TaskState } from '@tutti/protocol/internal'

/** Time after the last key press after which the preview is read again, in milliseconds. */
const PREVIEW_AFTER_MS = 400

interface ForkDialogProps {
  readonly runId: string
  readonly state: RunState
  readonly events: readonly LoggedRunEvent[]
  readonly start: ForkStart
  readonly onClose: () => void
}

/** The dialog; it opens the fork when it has started. */
export function ForkDialog({ runId, state, events, start, onClose }: ForkDialogProps) {
  // Edits refer to the run as it was when the dialog opened.
  const [opened] = useState(() => ({
    state,
    beforeTurn: findSeqBeforeTurn(events, start),
    task: state.tasks.find(({ name }) => name === start.taskName),
  }))
  const origin = useForkOrigin(start, opened)
  const [edits, setEdits] = useState<Partial<ForkForm>>({})
  const form = { ...createForkForm(origin), ...edits }
  const body = buildForkBody(form, origin)
  const { mutate, isPending, error, reset } = useStartFork(runId, onClose)
  const preview = useForkPreview(runId, body)
  const change = (changed: Partial<ForkForm>): void => {
    // The error of the server referred to the previous values.
    reset()
    setEdits({ ...edits, ...changed })
  }
  const needsConsent =
    preview.data?.needsAllowSideEffects === true || findFailureCode(error) === 'SIDE_EFFECTS'
  const isBlocked = needsConsent && !form.allowSideEffects
  const id = useId()
  return (
    <Dialog
      wide
      title={start.turn === undefined ? `Fork from "${start.taskName}"` : 'Fork from here'}
      onClose={onClose}
      footer={
        <>
          <Button kind="quiet" onClick={onClose}>
            Close
          </Button>
          <Button type="submit" form={id} kind="primary" busy={isPending} disabled={isBlocked}>
            {isPending ? 'Starting…' : 'Start fork'}
          </Button>
        </>
      }
    >
      <form
        id={id}
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault()
          if (!isPending && !isBlocked) mutate(body)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault()
            event.currentTarget.requestSubmit()
          }
        }}
      >
        {error !== null && <ForkFailure error={error} />}
        <p role="status" className={styles['place']}>
          {describeStart(form, origin)}
        </p>
        <PromptField form={form} origin={origin} task={opened.task} change={change} />
        <GuidanceField form={form} change={change} />
        <InputFields form={form} change={change} />
        {(needsConsent || form.allowSideEffects) && (
          <Checkbox
            checked={form.allowSideEffects}
            onChange={({ target }) => change({ allowSideEffects: target.checked })}
          >
            Allow tools that are not idempotent to be called again
          </Checkbox>
        )}
        <ForkPreviewView {...preview} />
      </form>
    </Dialog>
  )
}

/** The run as it was when the dialog opened. */
interface OpenedRun {
  readonly state: RunState
  readonly beforeTurn: number | undefined
  readonly task: TaskState | undefined
}

/** Returns the values of the form before any edit. */
function useForkOrigin(start: ForkStart, { state, beforeTurn, task }: OpenedRun): ForkOrigin {
  const { data: capabilities } = useCapabilities()
  const { ensemble, inputs } = state
  const template = capabilities?.ensembles
    .find(({ name }) => name === ensemble)
    ?.tasks.find(({ name }) => name === start.taskName)?.description
  return useMemo(
    () => ({
      start,
      prompt: findForkPrompt(task ?? { description: '' }, template, inputs),
      inputs,
      beforeTurn,
    }),
    [start, task, template, inputs, beforeTurn],
  )
}

/** Starts the fork, and opens it. */
function useStartFork(runId: string, onClose: () => void) {
  const { client } = useServer()
  return useMutation({
    mutationFn: (body: ForkBody) =>
      client.runs.fork(runId, body, { idempotencyKey: createRandomKey() }),
    networkMode: 'always',
    onSuccess: (fork) => {
      toast('Fork started')
      onClose()
      goTo(linkToRun(fork.runId))
    },
  })
}

/** Reads what the fork would do, after each change of the request. */
function useForkPreview(runId: string, body: ForkBody) {
  const { client } = useServer()
  // The body is a new object in every render; its text is not.
  const text = useSettled(JSON.stringify(body), PREVIEW_AFTER_MS)
  const { data, error, isFetching } = useQuery({
    queryKey: ['fork preview', runId, text],
    // NOTE: the text is the JSON of a body.
    queryFn: ({ signal }) =>
      client.runs.previewFork(runId, JSON.parse(text) as ForkBody, { signal }),
    placeholderData: (before) => before,
    staleTime: 0,
  })
  return { data, error, isStale: isFetching || text !== JSON.stringify(body) }
}

function describeStart(form: ForkForm, origin: ForkOrigin): string {
  const { taskName, turn } = origin.start
  if (changesPrompt(form, origin)) {
    return `The fork begins at the start of "${taskName}", because its prompt was changed. Earlier results are reused.`
  }
  if (turn === undefined || origin.beforeTurn === undefined) {
    return `The fork begins at the start of "${taskName}". Earlier results are reused.`
  }
  return `The fork begins with model call ${turn.iterationIndex + 1} of "${taskName}". Everything before it is reused.`
}

interface PartProps {
  readonly form: ForkForm
  readonly change: (changed: Partial<ForkForm>) => void
}

function PromptField({
  form,
  origin,
  task,
  change,
}: PartProps & { readonly origin: ForkOrigin; readonly task: TaskState | undefined }) {
  const delegator = task?.delegatedBy?.taskName
  if (delegator !== undefined) {
    return (
      <Field
        label="Prompt"
        hint={`"${delegator}" wrote this prompt, so it cannot be changed here.`}
      >
        {(control) => <TextArea {...control} readOnly value={origin.prompt.text} />}
      </Field>
    )
  }
  const hint = origin.prompt.isTemplate
    ? 'The description of the task. Names in braces stand for inputs.'
    : 'The description of the task.'
  return (
    <Field
      label="Prompt"
      hint={hint}
      aside={
        changesPrompt(form, origin) && (
          <Button size="s" kind="quiet" onClick={() => change({ prompt: origin.prompt.text })}>
            Undo changes
          </Button>
        )
      }
    >
      {(control) => (
        <TextArea
          {...control}
          value={form.prompt}
          onChange={({ target }) => change({ prompt: target.value })}
        />
      )}
    </Field>
  )
}

function GuidanceField({ form, change }: PartProps) {
  return (
    <Field
      label="Guidance"
      hint="A directive for the agent of this task. It sees it at its next model call."
    >
      {(control) => (
        <TextArea
          {...control}
          data-autofocus
          value={form.directive}
          onChange={({ target }) => change({ directive: target.value })}
        />
      )}
    </Field>
  )
}

function InputFields({ form, change }: PartProps) {
  const inputs = Object.entries(form.inputs)
  if (inputs.length === 0) return null
  return (
    <fieldset className={styles['inputs']}>
      <legend>Inputs</legend>
      <p className={styles['soft']}>
        Changed inputs take effect in the prompts of tasks that start in the fork.
      </p>
      {inputs.map(([name, value]) => (
        <Field key={name} label={name}>
          {(control) => (
            <TextArea
              {...control}
              rows={1}
              value={value}
              onChange={({ target }) =>
                change({ inputs: { ...form.inputs, [name]: target.value } })
              }
            />
          )}
        </Field>
      ))}
    </fieldset>
  )
}

function ForkFailure({ error }: { readonly error: Error }) {
  const problems = findFailureProblems(error)
  return (
    <Notice tone="failed" title="The fork was not started">
      <p>{readFailureText(error)}</p>
      {problems.map(({ path, message }) => (
        <p key={`${path} ${message}`}>
          <code>{path}</code> {message}
        </p>
      ))}
    </Notice>
  )
}
