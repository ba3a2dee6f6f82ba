package org.cloister.host.step;

import java.io.IOException;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** CPUs or NUMA nodes as the kernel lists them: {@code 0-3,8}, cpuset(7). */
final class NumberSet {
    private static final int MOST = 8191;
    private static final Pattern FORM =
            Pattern.compile("(?:[0-9]{1,4}(?:-[0-9]{1,4})?(?:,[0-9]{1,4}(?:-[0-9]{1,4})?){0,2000})?");

    private NumberSet() {}

    static NavigableSet<Integer> parse(String text) throws IOException {
        if (!FORM.matcher(text).matches()) {
            throw new IOException("cpuset: want numbers and ranges up to " + MOST + ", have " + Printable.of(text));
        }
        NavigableSet<Integer> numbers = new TreeSet<>();
        for (String part : text.isEmpty() ? new String[0] : text.split(",", -1)) {
            String[] ends = part.split("-", -1);
            int from = Integer.parseInt(ends[0]);
            int to = Integer.parseInt(ends[ends.length - 1]);
            if (to < from || to > MOST) {
                throw new IOException("cpuset: want ranges upwards, to " + MOST + ", have " + Printable.of(part));
            }
            for (int each = from; each <= to; each++) {
                numbers.add(each);
            }
        }
        return numbers;
    }
}
