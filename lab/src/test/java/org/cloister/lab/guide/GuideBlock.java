package org.cloister.lab.guide;

import java.util.ArrayList;
import java.util.List;

/**
 * A code block of a Markdown text.
 *
 * @param line of its first line, from 1
 * @param comment the line above it, empty lines left out
 * @param text without the indentation or the fences
 */
record GuideBlock(int line, String comment, String text) {
    private static final String INDENTATION = "    ";
    private static final String FENCE = "```";

    /** Returns the blocks in order. */
    static List<GuideBlock> parse(String guide) {
        List<String> lines = guide.lines().toList();
        List<GuideBlock> blocks = new ArrayList<>();
        int next = 0;
        while (next < lines.size()) {
            int end = end(lines, next);
            if (end > next) {
                blocks.add(block(lines, next, end));
                next = end;
            } else {
                next++;
            }
        }
        return blocks;
    }

    /** Returns where the block ends that begins at a line, or the line itself if none does. */
    private static int end(List<String> lines, int from) {
        int end = from;
        if (lines.get(from).startsWith(FENCE)) {
            end++;
            while (!lines.get(end).equals(FENCE)) {
                end++;
            }
            return end + 1;
        }
        while (end < lines.size()
                && (lines.get(end).startsWith(INDENTATION)
                        || (end > from && lines.get(end).isEmpty()))) {
            end++;
        }
        while (end > from && lines.get(end - 1).isEmpty()) {
            end--;
        }
        return end;
    }

    private static GuideBlock block(List<String> lines, int from, int end) {
        int above = from - 1;
        while (above >= 0 && lines.get(above).isEmpty()) {
            above--;
        }
        boolean fenced = lines.get(from).startsWith(FENCE);
        StringBuilder text = new StringBuilder();
        for (String line : fenced ? lines.subList(from + 1, end - 1) : lines.subList(from, end)) {
            text.append(fenced || line.isEmpty() ? line : line.substring(INDENTATION.length()))
                    .append('\n');
        }
        return new GuideBlock(from + 1, above < 0 ? "" : lines.get(above), text.toString());
    }
}
