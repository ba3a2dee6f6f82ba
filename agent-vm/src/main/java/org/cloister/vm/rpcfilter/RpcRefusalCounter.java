package org.cloister.vm.rpcfilter;

import java.net.InetAddress;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Counts refusals by name, and selects those that get a line in the journal. Times are in nanoseconds. */
public final class RpcRefusalCounter {
    /** All names that can be counted. */
    public static final Set<String> NAMES = names();

    private static final long WINDOW_NS = 10_000_000_000L;
    private static final int LINES = 20;

    private final SortedMap<String, Long> counts = new TreeMap<>();
    private long windowNs;
    private int lines;
    private long suppressed;

    private static Set<String> names() {
        Stream<String> kinds = Stream.of(RpcRefusal.Code.values()).map(RpcRefusal.Code::text);
        Stream<String> types = Stream.of(SlurmMessageType.values())
                .filter(type -> !type.isAdmitted())
                .map(SlurmMessageType::code);
        return Stream.concat(kinds, types).collect(Collectors.toUnmodifiableSet());
    }

    RpcRefusalCounter(long nowNs) {
        this.windowNs = nowNs;
    }

    /**
     * Counts a refusal.
     *
     * @return a line for the journal; at most 20 lines in 10 s, then the number of those left out
     */
    Optional<String> count(RpcRefusal refusal, InetAddress worker, long nowNs) {
        counts.merge(refusal.name(), 1L, Long::sum);
        if (nowNs - windowNs >= WINDOW_NS) {
            windowNs = nowNs;
            lines = 0;
        }
        if (lines >= LINES) {
            suppressed++;
            return Optional.empty();
        }
        lines++;
        String more = suppressed == 0 ? "" : " suppressed=" + suppressed;
        suppressed = 0;
        return Optional.of("refused worker=" + worker.getHostAddress() + " reason=\"" + refusal.text() + "\"" + more);
    }

    /**
     * Returns the counts for agent-vm: a line with name and number each, and a last line that marks the text as
     * complete.
     */
    String text() {
        StringBuilder text = new StringBuilder();
        counts.forEach(
                (name, count) -> text.append(name).append(' ').append(count).append('\n'));
        return text.append(FilterStateFile.END).append('\n').toString();
    }
}
