package org.cloister.lab.guide;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a comment of a guide says about the code block below it, or about files that somebody carries:
 *
 * <ul>
 *   <li>{@code <!-- run on MACHINE... -->}: commands of root on each of these machines of the site;
 *   <li>{@code <!-- run as PERSON -->}: commands of a person on a device of their own;
 *   <li>{@code <!-- file NAME as PERSON -->}: content of a file;
 *   <li>{@code <!-- set NAME on MACHINE -->}: keys of a TOML file that is there;
 *   <li>{@code <!-- not run: REASON -->};
 *   <li>{@code <!-- carry PLACE:FILE to PLACE:FILE... -->}, without a block.
 * </ul>
 */
sealed interface GuideStep {
    /** Returns the line of the block, or of the comment without one, from 1. */
    int line();

    record MachineCommands(int line, List<String> machines, String script) implements GuideStep {}

    record PersonCommands(int line, String person, String script) implements GuideStep {}

    record PersonFile(int line, String person, String name, String content) implements GuideStep {}

    record Settings(int line, String machine, String name, String keys) implements GuideStep {}

    record NotRun(int line, String reason, String text) implements GuideStep {}

    record Carried(int line, PlacedFile from, List<PlacedFile> to) implements GuideStep {}

    /** A file of a machine or a person. */
    record PlacedFile(String place, String name) {
        private static PlacedFile parse(String word) {
            String[] parts = word.split(":", 2);
            return new PlacedFile(parts[0], parts[1]);
        }
    }

    Pattern COMMENT = Pattern.compile("<!-- (run on|run as|file|set|not run:|carry) (.+) -->");
    Pattern CARRIED = Pattern.compile("([a-z0-9]+:\\S+) to ([a-z0-9]+:\\S+(?: [a-z0-9]+:\\S+)*)");

    /** Returns the steps of a guide in order; a block without a comment that says what it is makes it throw. */
    static List<GuideStep> parse(String guide) {
        List<GuideBlock> blocks = GuideBlock.parse(guide);
        List<GuideStep> steps = new ArrayList<>();
        int line = 0;
        for (String text : guide.lines().toList()) {
            line++;
            int here = line;
            Matcher comment = COMMENT.matcher(text);
            if (comment.matches() && comment.group(1).equals("carry")) {
                Matcher carried = CARRIED.matcher(comment.group(2));
                require(carried.matches(), here, "want <!-- carry PLACE:FILE to PLACE:FILE... -->");
                List<PlacedFile> to = new ArrayList<>();
                for (String word : carried.group(2).split(" ", -1)) {
                    to.add(PlacedFile.parse(word));
                }
                steps.add(new Carried(here, PlacedFile.parse(carried.group(1)), to));
            }
            blocks.stream().filter(block -> block.line() == here).forEach(block -> steps.add(of(block)));
        }
        return steps;
    }

    private static GuideStep of(GuideBlock block) {
        Matcher comment = COMMENT.matcher(block.comment());
        require(
                comment.matches(),
                block.line(),
                "no comment above this block says where it runs; want <!-- run on MACHINE -->, <!-- run as PERSON -->"
                        + " or <!-- not run: REASON -->");
        String[] words = comment.group(2).split(" ", -1);
        return switch (comment.group(1)) {
            case "run on" -> new MachineCommands(block.line(), List.of(words), block.text());
            case "run as" -> new PersonCommands(block.line(), words[0], block.text());
            case "file" -> {
                require(words.length == 3 && words[1].equals("as"), block.line(), "want <!-- file NAME as PERSON -->");
                yield new PersonFile(block.line(), words[2], words[0], block.text());
            }
            case "set" -> {
                require(words.length == 3 && words[1].equals("on"), block.line(), "want <!-- set NAME on MACHINE -->");
                yield new Settings(block.line(), words[2], words[0], block.text());
            }
            case "not run:" -> new NotRun(block.line(), comment.group(2), block.text());
            default ->
                throw new IllegalArgumentException("line " + block.line() + ": a comment that carries has no block");
        };
    }

    private static void require(boolean holds, int line, String wanted) {
        if (!holds) {
            throw new IllegalArgumentException("line " + line + ": " + wanted);
        }
    }
}
