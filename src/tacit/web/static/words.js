// English of the script in one place.
export const WORDS = {
  noServer: "The server does not answer. Start tacit serve again.",
  noAnswer: "The server gave no answer. Reload the page.",
  failed: "This did not work. Reload the page.",
  reading: (name) => `Reading ${name}`,
  several: (first, more) => `${first} and ${more} more`,
  saved: "Saved.",
  deleteProject: "Delete this project, its answers and the copies of its files?",
  keep: (what) => `Keep ${what}`,
  make: (what) => `Make this release: ${what}`,
  asPublished: "Back to the release as it is",
  asIs: "as it is",
  computing: (codes) => `${codes} is being computed`,
  waiting: "Waiting for other commands",
  noFiles: "The folder is empty. Choose another one.",
  added: "Written into the register.",
  chooseColumns: "Choose at least one column.",
};
