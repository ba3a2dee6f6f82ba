package org.cloister.host.ledger;

import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.MalformedException;

/** A change of the ledger, as a line of words with one blank between them. */
sealed interface Line {
    /** Words of {@code put} without an end. */
    int PUT_WORDS = 9;

    int END_WORDS = 3;
    /** In place of an empty word. */
    String NONE = "-";

    Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,17}");
    Pattern WORD = Pattern.compile("[A-Z_]{1,20}");

    String text();

    /** New, or in the place of the one with its UUID. */
    record Put(Entry entry) implements Line {
        @Override
        public String text() {
            VmOwner owner = entry.owner();
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

    /** The VM's entry is no more, and its place spent. */
    record Drop(String uuid, long atMs) implements Line {
        @Override
        public String text() {
            return "drop " + uuid + " " + atMs;
        }
    }

    /** Of an entry that an older file had. */
    record Burnt(Spent spent) implements Line {
        @Override
        public String text() {
            return "spent " + spent.ticket() + " " + spent.slot() + " " + spent.endedMs();
        }
    }

    static Line parse(String text) throws MalformedException {
        String[] words = text.split(" ", -1);
        try {
            return switch (words[0]) {
                case "put" -> new Put(entry(words));
                case "drop" -> new Drop(require(words, 3)[1], number(words[2]));
                case "spent" ->
                    new Burnt(new Spent(require(words, 4)[1], Math.toIntExact(number(words[2])), number(words[3])));
                default -> throw new IllegalArgumentException("want put, drop or spent");
            };
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static Entry entry(String[] words) {
        Optional<End> end = Optional.empty();
        if (words.length != PUT_WORDS) {
            require(words, PUT_WORDS + END_WORDS);
            String at = words[PUT_WORDS + 1];
            end = Optional.of(new End(
                    End.Why.valueOf(word(words[PUT_WORDS])),
                    at.equals(NONE) ? "" : word(at),
                    number(words[PUT_WORDS + 2])));
        }
        VmOwner owner = new VmOwner(words[2], words[3], Math.toIntExact(number(words[4])), number(words[5]), words[1]);
        return new Entry(owner, scratch(words[6]), number(words[7]), Step.valueOf(word(words[8])), end);
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
