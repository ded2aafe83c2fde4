/** Deletes a run after confirmation. */
import { useMutation, useQueryClient } from '@tanstack/react-query'

import { readFailureText } from '../../api/failure.ts'
import { linkToRuns } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { goTo } from '../../lib/router.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { toast } from '../../ui/feedback/toasts.tsx'
import { Dialog } from '../../ui/layout/dialog.tsx'

interface DeleteRunProps {
  readonly runId: string
  readonly onClose: () => void
}

/** The confirmation dialog. After deletion it goes to the list of runs. */
export function DeleteRun({ runId, onClose }: DeleteRunProps) {
  const { client } = useServer()
  const answers = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => client.runs.delete(runId),
    onSuccess: () => {
      answers.removeQueries({ queryKey: ['run', runId] })
      // No event reports a deletion, because the run that would carry it is gone.
      answers.removeQueries({ queryKey: ['run-list'] })
      toast('Run deleted')
      goTo(linkToRuns(), { replace: true })
    },
  })
  return (
    <Dialog
      title="Delete this run?"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep run</Button>
          <Button kind="danger" busy={isPending} onClick={() => mutate()}>
            Delete run
          </Button>
        </>
      }
    >
      <p>
        Its events, outputs and trace are deleted from the server for all users. This cannot be
        undone.
      </p>
      {error !== null && (
        <Notice tone="failed" title="Failed to delete the run">
          {readFailureText(error)}
        </Notice>
      )}
    </Dialog>
  )
}
