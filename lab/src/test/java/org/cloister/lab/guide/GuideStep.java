package org.cloister.lab.guide;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Step of a guide, from the comment above a code block, or from one about files that somebody carries:
 *
 * <ul>
 *   <li>{@code <!-- run on MACHINE... -->}: commands of root on each of these machines of the site;
 *   <li>{@code <!-- run as PERSON -->}: commands of a person on a device of their own; with {@code , and as OTHER} the
 *       other does the same, with their own name in place of the first one's;
 *   <li>either of them {@code until it succeeds}: the reader tries it again where it does not yet;
 *   <li>{@code <!-- file NAME as PERSON -->}: content of a file;
 *   <li>{@code <!-- set NAME on MACHINE -->}: keys of a TOML file that is there;
 *   <li>{@code <!-- not run: REASON -->};
 *   <li>{@code <!-- carry PLACE:FILE to PLACE:FILE... -->}, without a block.
 * </ul>
 */
sealed interface GuideStep {
    /** Returns the line of the block, or of the comment without one, from 1. */
    int line();

    /** @param repeated whether the reader tries again until it succeeds */
    record MachineCommands(int line, List<String> machines, boolean repeated, String script) implements GuideStep {
        /** Returns the commands for one of the machines. */
        String script(String machine) {
            return GuideHosts.isOne(machine) ? GuideHosts.on(machine, script) : script;
        }
    }

    /** @param repeated whether the reader tries again until it succeeds */
    record PersonCommands(int line, String person, boolean repeated, String script) implements GuideStep {}

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

    String REPEATED = " until it succeeds";
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
            blocks.stream().filter(block -> block.line() == here).forEach(block -> steps.addAll(of(block)));
        }
        return steps;
    }

    private static List<GuideStep> of(GuideBlock block) {
        Matcher comment = COMMENT.matcher(block.comment());
        int line = block.line();
        require(
                comment.matches(),
                line,
                "no comment above this block says where it runs; want <!-- run on MACHINE -->, <!-- run as PERSON -->"
                        + " or <!-- not run: REASON -->");
        String what = comment.group(2);
        boolean repeated = what.endsWith(REPEATED);
        if (repeated) {
            what = what.substring(0, what.length() - REPEATED.length());
        }
        String[] words = what.split(" ", -1);
        return switch (comment.group(1)) {
            case "run on" -> List.of(new MachineCommands(line, List.of(words), repeated, block.text()));
            case "run as" -> people(line, what.split(", and as ", -1), repeated, block.text());
            case "file" -> {
                require(words.length == 3 && words[1].equals("as"), line, "want <!-- file NAME as PERSON -->");
                yield List.of(new PersonFile(line, words[2], words[0], block.text()));
            }
            case "set" -> {
                require(words.length == 3 && words[1].equals("on"), line, "want <!-- set NAME on MACHINE -->");
                yield List.of(new Settings(line, words[2], words[0], block.text()));
            }
            case "not run:" -> List.of(new NotRun(line, what, block.text()));
            default -> throw new IllegalArgumentException("line " + line + ": a comment that carries has no block");
        };
    }

    private static List<GuideStep> people(int line, String[] people, boolean repeated, String script) {
        List<GuideStep> steps = new ArrayList<>();
        for (String person : people) {
            String own = script.replaceAll("\\b" + people[0] + "\\b", person);
            steps.add(new PersonCommands(line, person, repeated, own));
        }
        return steps;
    }

    private static void require(boolean holds, int line, String form) {
        if (!holds) {
            throw new IllegalArgumentException("line " + line + ": " + form);
        }
    }
}
