/** Gives a text to the reader as a file. */

/** Has the browser save `text` under a name. */
export function downloadText(name: string, text: string, type = 'application/json'): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken the text by then.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}
