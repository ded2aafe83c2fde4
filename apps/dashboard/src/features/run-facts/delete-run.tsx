/** Asks whether a run is to be deleted, and deletes it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'

import { failureText } from '../../api/failure.ts'
import { runsHref } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { goTo } from '../../lib/router.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { toast } from '../../ui/feedback/toasts.tsx'
import { Dialog } from '../../ui/layout/dialog.tsx'

/** The question; after it the reader is at the runs. */
export function DeleteRun({
  runId,
  onClose,
}: {
  readonly runId: string
  readonly onClose: () => void
}) {
  const { client } = useServer()
  const answers = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => client.runs.delete(runId),
    onSuccess: () => {
      answers.removeQueries({ queryKey: ['run', runId] })
      // No event tells of it: nobody can follow a run that is not there.
      answers.removeQueries({ queryKey: ['run-list'] })
      toast('The run was deleted')
      goTo(runsHref(), { replace: true })
    },
  })
  return (
    <Dialog
      title="Delete this run?"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" busy={isPending} onClick={() => mutate()}>
            Delete run
          </Button>
        </>
      }
    >
      <p>
        Its events, outputs and trace are deleted from the server, for everybody. This cannot be
        taken back.
      </p>
      {error !== null && (
        <Notice tone="failed" title="It was not deleted">
          {failureText(error)}
        </Notice>
      )}
    </Dialog>
  )
}
