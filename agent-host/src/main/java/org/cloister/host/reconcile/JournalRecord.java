package org.cloister.host.reconcile;

import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.host.vm.ResourceOwner;

/** Change of the ledger, written as a line of words separated by one blank. */
sealed interface JournalRecord {
    /** Number of words of a {@code put} without an end. */
    int PUT_WORDS = 9;

    int END_WORDS = 3;
    /** Word that replaces an empty one. */
    String NONE = "-";

    Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,17}");
    Pattern WORD = Pattern.compile("[A-Z_]{1,20}");

    String text();

    /** Adds an entry, or replaces the one with its UUID. */
    record Put(VmLedgerEntry entry) implements JournalRecord {
        @Override
        public String text() {
            ResourceOwner owner = entry.owner();
            String text = String.join(
                    " ",
                    "put",
                    owner.uuid(),
                    owner.project(),
                    owner.ticket(),
                    Integer.toString(owner.slot()),
                    Long.toString(owner.globalJob()),
                    entry.scratch() ? "scratch" : NONE,
                    Long.toString(entry.claimedMs()),
                    entry.step().name());
            return entry.end()
                    .map(end ->
                            text + " " + end.why() + " " + (end.at().isEmpty() ? NONE : end.at()) + " " + end.atMs())
                    .orElse(text);
        }
    }

    /** Deletes the VM's entry and marks its slot as spent. */
    record Drop(String uuid, long atMs) implements JournalRecord {
        @Override
        public String text() {
            return "drop " + uuid + " " + atMs;
        }
    }

    /** Carries a spent slot over when the file is rewritten. */
    record SpentSlotEntry(SpentSlot spent) implements JournalRecord {
        @Override
        public String text() {
            return "spent " + spent.ticket() + " " + spent.slot() + " " + spent.endedMs();
        }
    }

    static JournalRecord parse(String text) throws MalformedException {
        String[] words = text.split(" ", -1);
        try {
            return switch (words[0]) {
                case "put" -> new Put(entry(words));
                case "drop" -> new Drop(require(words, 3)[1], number(words[2]));
                case "spent" ->
                    new SpentSlotEntry(
                            new SpentSlot(require(words, 4)[1], Math.toIntExact(number(words[2])), number(words[3])));
                default -> throw new IllegalArgumentException("want put, drop or spent");
            };
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static VmLedgerEntry entry(String[] words) {
        Optional<VmTermination> end = Optional.empty();
        if (words.length != PUT_WORDS) {
            require(words, PUT_WORDS + END_WORDS);
            String at = words[PUT_WORDS + 1];
            end = Optional.of(new VmTermination(
                    VmTermination.Why.valueOf(word(words[PUT_WORDS])),
                    at.equals(NONE) ? "" : word(at),
                    number(words[PUT_WORDS + 2])));
        }
        ResourceOwner owner =
                new ResourceOwner(words[2], words[3], Math.toIntExact(number(words[4])), number(words[5]), words[1]);
        return new VmLedgerEntry(owner, scratch(words[6]), number(words[7]), VmStartStep.valueOf(word(words[8])), end);
    }

    private static boolean scratch(String word) {
        if (!word.equals("scratch") && !word.equals(NONE)) {
            throw new IllegalArgumentException("want scratch or " + NONE);
        }
        return word.equals("scratch");
    }

    private static String[] require(String[] words, int count) {
        if (words.length != count) {
            throw new IllegalArgumentException("want " + count + " words, have " + words.length);
        }
        return words;
    }

    private static String word(String word) {
        if (!WORD.matcher(word).matches()) {
            throw new IllegalArgumentException("want " + WORD);
        }
        return word;
    }

    private static long number(String word) {
        if (!NUMBER.matcher(word).matches()) {
            throw new IllegalArgumentException("want a number");
        }
        return Long.parseLong(word);
    }
}
