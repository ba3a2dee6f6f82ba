package org.cloister.vm.controller.ssh;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The command that rsync sends to the side that reads the files: {@code rsync --server --sender -OPTIONS . PATH...}. It
 * is parsed here, without a shell, and only options that are known to do nothing but send are accepted.
 *
 * @param options each as rsync accepts it
 */
record RsyncCommand(List<String> options, List<String> paths) {
    private static final Pattern SHORT = Pattern.compile("-[a-zA-Z]+(\\.[0-9]*)?[a-zA-Z.]*");
    private static final Pattern LONG = Pattern.compile(
            "--(numeric-ids|sparse|partial|inplace|no-[a-z-]{1,30}|timeout=[0-9]{1,6}|bwlimit=[0-9.]{1,9}"
                    + "|checksum-seed=[0-9]{1,12}|compress-level=[0-9]{1,2}|copy-unsafe-links|safe-links"
                    + "|new-compress|old-compress)");
    /** Characters with a meaning in a shell, outside of words. */
    private static final String SPECIAL = "$`\"';&|<>(){}*?[]~!#\n\t";

    private static final int MAX_WORDS = 200;

    /** Parses a command; empty if it is another one, or requests more than sending files by their names. */
    static Optional<RsyncCommand> parse(String command) {
        Optional<List<String>> split = words(command);
        if (split.isEmpty()) {
            return Optional.empty();
        }
        List<String> words = split.get();
        if (words.size() < 5
                || words.size() > MAX_WORDS
                || !words.subList(0, 3).equals(List.of("rsync", "--server", "--sender"))) {
            return Optional.empty();
        }
        int dot = words.indexOf(".");
        if (dot < 3 || dot == words.size() - 1) {
            return Optional.empty();
        }
        List<String> options = words.subList(3, dot);
        List<String> paths = words.subList(dot + 1, words.size());
        // "s" announces names that are sent later, where they cannot be checked here.
        boolean known = options.stream()
                .allMatch(each -> LONG.matcher(each).matches()
                        || (SHORT.matcher(each).matches() && !each.split("e", 2)[0].contains("s")));
        return known && paths.stream().noneMatch(each -> each.startsWith("-") || each.isEmpty())
                ? Optional.of(new RsyncCommand(List.copyOf(options), List.copyOf(paths)))
                : Optional.empty();
    }

    /**
     * Splits the command: blanks separate words, and a backslash quotes the next character; no other shell syntax is
     * accepted.
     */
    private static Optional<List<String>> words(String command) {
        List<String> words = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        boolean inWord = false;
        for (int i = 0; i < command.length(); i++) {
            char each = command.charAt(i);
            if (each == ' ') {
                if (inWord) {
                    words.add(word.toString());
                }
                word.setLength(0);
                inWord = false;
                continue;
            }
            inWord = true;
            if (each == '\\') {
                i++;
                if (i == command.length()) {
                    return Optional.empty();
                }
                word.append(command.charAt(i));
            } else if (SPECIAL.indexOf(each) >= 0 || each < ' ' || each == 127) {
                return Optional.empty();
            } else {
                word.append(each);
            }
        }
        if (inWord) {
            words.add(word.toString());
        }
        return Optional.of(words);
    }
}
