package org.cloister.host.domain;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * Set of the host's CPUs, in the kernel's notation: {@code 0-3,8}.
 *
 * @param numbers ascending and distinct, at least one
 */
public record CpuSet(List<Integer> numbers) {
    private static final int MAX_CPU = ResourceRequest.MAX_CPUS - 1;
    private static final String NUMBER = "(0|[1-9][0-9]{0,3})";
    private static final Pattern RANGE = Pattern.compile(NUMBER + "(?:-" + NUMBER + ")?");
    /** Length of the longest text: every second CPU of the largest number of CPUs. */
    private static final int MAX_CHARACTERS = 5 * (MAX_CPU + 1) / 2;

    private static final int MAX_PRINTED = 80;

    /** @throws IllegalArgumentException if the numbers are not such a set */
    public CpuSet {
        numbers = List.copyOf(numbers);
        int min = 0;
        for (int cpu : numbers) {
            if (cpu < min || cpu > MAX_CPU) {
                throw new IllegalArgumentException(
                        "CPUs: want numbers from 0 to " + MAX_CPU + ", ascending, have " + cpu + " in " + numbers);
            }
            min = cpu + 1;
        }
        if (numbers.isEmpty()) {
            throw new IllegalArgumentException("CPUs: want at least one, have none");
        }
    }

    /**
     * Parses the kernel's notation.
     *
     * @throws IllegalArgumentException if the kernel would not write this text
     */
    public static CpuSet parse(String text) {
        if (text.length() > MAX_CHARACTERS) {
            throw new IllegalArgumentException(
                    "CPUs: want a list of at most " + MAX_CHARACTERS + " characters, have " + text.length());
        }
        List<Integer> numbers = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            Matcher range = RANGE.matcher(part);
            int min = numbers.isEmpty() ? 0 : numbers.get(numbers.size() - 1) + 1;
            if (!range.matches()) {
                throw new IllegalArgumentException("CPUs: want a list such as 0-3,8, have \"" + printable(text) + "\"");
            }
            int first = Integer.parseInt(range.group(1));
            int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
            if (first < min || last < first || last > MAX_CPU) {
                throw new IllegalArgumentException(
                        "CPUs: want ranges within 0 to " + MAX_CPU + ", ascending, have \"" + printable(text) + "\"");
            }
            for (int cpu = first; cpu <= last; cpu++) {
                numbers.add(cpu);
            }
        }
        return new CpuSet(numbers);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < numbers.size(); i++) {
            int first = numbers.get(i);
            while (i + 1 < numbers.size() && numbers.get(i + 1) == numbers.get(i) + 1) {
                i++;
            }
            text.append(text.isEmpty() ? "" : ",").append(first);
            if (numbers.get(i) > first) {
                text.append('-').append(numbers.get(i));
            }
        }
        return text.toString();
    }

    private static String printable(String text) {
        return text.substring(0, Math.min(text.length(), MAX_PRINTED)).replaceAll("[^ -~]", "?");
    }
}
