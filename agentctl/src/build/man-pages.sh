#!/bin/sh
# Makes target/man/*.1 from src/main/man/*.adoc, which include what picocli generated from the command model.
# Same inputs, same bytes: the date of a page is that of the release.
set -eu
sources=$1 target=$2 version=$3 timestamp=$4

command -v asciidoctor >/dev/null || {
    echo "agentctl: the man pages need asciidoctor, which is missing; apt-get install asciidoctor" >&2
    exit 1
}
# A subcommand without a page of its own would be left out without a word.
for generated in "$target"/man-generated/*.adoc; do
    [ -f "$sources/${generated##*/}" ] || {
        echo "agentctl: ${generated##*/} has no page in $sources; write one beside the others" >&2
        exit 1
    }
done
rm -rf "$target/man"
mkdir -p "$target/man" "$target/completion"
SOURCE_DATE_EPOCH=$(date -u -d "$timestamp" +%s)
export SOURCE_DATE_EPOCH
asciidoctor --backend manpage --failure-level WARN \
    --attribute docdate="${timestamp%T*}" \
    --attribute generated="$target/man-generated" \
    --attribute manmanual="Cloister" --attribute mansource="Cloister $version" \
    --destination-dir "$target/man" "$sources"/agentctl*.adoc
