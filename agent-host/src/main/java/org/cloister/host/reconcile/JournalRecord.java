package org.cloister.host.reconcile;

import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.host.vm.ResourceOwner;

/** Change of the ledger, written as a line of words separated by one blank. */
sealed interface JournalRecord {
    /** Number of words of a {@code put} without an end. */
    int PUT_FIELDS = 9;

    int END_FIELDS = 3;
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
        String[] fields = text.split(" ", -1);
        try {
            return switch (fields[0]) {
                case "put" -> new Put(entry(fields));
                case "drop" -> new Drop(require(fields, 3)[1], number(fields[2]));
                case "spent" ->
                    new SpentSlotEntry(new SpentSlot(
                            require(fields, 4)[1], Math.toIntExact(number(fields[2])), number(fields[3])));
                default -> throw new IllegalArgumentException("want put, drop or spent");
            };
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static VmLedgerEntry entry(String[] fields) {
        Optional<VmTermination> end = Optional.empty();
        if (fields.length != PUT_FIELDS) {
            require(fields, PUT_FIELDS + END_FIELDS);
            String at = fields[PUT_FIELDS + 1];
            end = Optional.of(new VmTermination(
                    VmTermination.Why.valueOf(word(fields[PUT_FIELDS])),
                    at.equals(NONE) ? "" : word(at),
                    number(fields[PUT_FIELDS + 2])));
        }
        ResourceOwner owner = new ResourceOwner(
                fields[2], fields[3], Math.toIntExact(number(fields[4])), number(fields[5]), fields[1]);
        return new VmLedgerEntry(
                owner, scratch(fields[6]), number(fields[7]), VmStartStep.valueOf(word(fields[8])), end);
    }

    private static boolean scratch(String word) {
        if (!word.equals("scratch") && !word.equals(NONE)) {
            throw new IllegalArgumentException("want scratch or " + NONE);
        }
        return word.equals("scratch");
    }

    private static String[] require(String[] fields, int count) {
        if (fields.length != count) {
            throw new IllegalArgumentException("want " + count + " words, have " + fields.length);
        }
        return fields;
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
