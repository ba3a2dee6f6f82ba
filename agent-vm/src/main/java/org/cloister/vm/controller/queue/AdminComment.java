package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.vm.controller.tickets.WorkerPhase;

/**
 * A job's AdminComment, in the one format in which the submit plugin and this queue write it: words, since sacctmgr
 * turns quotation marks into backticks. Each value has exactly one text.
 *
 * @param features positions in the approval's list, ascending
 * @param attempt the last one; empty before the first
 */
record AdminComment(List<Integer> features, Optional<Attempt> attempt) {
    static final int MAX_CHARS = 1024;
    static final int MAX_ATTEMPT = 999_999_999;
    /** Limit of a duration: 31 years. */
    static final Duration MAX_DURATION = Duration.ofSeconds(999_999_999);

    private static final String POSITION = "(?:0|[1-9][0-9]?)";
    private static final String SECONDS = "(?:0|[1-9][0-9]{0,8})\\.[0-9]{3}";
    private static final Pattern FORM =
            Pattern.compile("v=1 features=(-|" + POSITION + "(?:," + POSITION + "){0,31})(?: ticket=("
                    + Ticket.ID + ") attempt=([1-9][0-9]{0,8})"
                    + Arrays.stream(WorkerPhase.values())
                            .map(phase -> "(?: " + phase + "=(?<" + phase + ">" + SECONDS + "))?")
                            .collect(Collectors.joining())
                    + ")?");

    /**
     * An attempt to run a job, with its ticket.
     *
     * @param number from 1
     * @param seconds durations of completed phases, in whole milliseconds
     */
    record Attempt(String ticket, int number, Map<WorkerPhase, Duration> seconds) {
        Attempt {
            seconds = Map.copyOf(seconds);
        }
    }

    AdminComment {
        features = List.copyOf(features);
    }

    /**
     * Parses an AdminComment.
     *
     * @throws MalformedException if neither the submit plugin nor this queue wrote it: the job was submitted another
     *     way
     */
    static AdminComment parse(String text) throws MalformedException {
        if (text.length() > MAX_CHARS) {
            throw new MalformedException(
                    "admin comment: want at most " + MAX_CHARS + " characters, have " + text.length());
        }
        Matcher match = FORM.matcher(text);
        if (!match.matches()) {
            throw new MalformedException(
                    "admin comment: want one that the submit plugin wrote, have " + StrictJson.quoted(text));
        }
        Optional<Attempt> attempt = Optional.ofNullable(match.group(2))
                .map(ticket -> new Attempt(ticket, Integer.parseInt(match.group(3)), seconds(match)));
        return new AdminComment(features(match.group(1)), attempt);
    }

    private static List<Integer> features(String list) throws MalformedException {
        List<Integer> features = new ArrayList<>();
        int atLeastZero = 0;
        for (String each : list.equals("-") ? new String[0] : list.split(",", -1)) {
            int position = Integer.parseInt(each);
            if (position < atLeastZero || position >= ResourceRequest.MAX_FEATURES) {
                throw new MalformedException("admin comment: features: want places from " + atLeastZero + " to "
                        + (ResourceRequest.MAX_FEATURES - 1) + ", have " + position);
            }
            features.add(position);
            atLeastZero = position + 1;
        }
        return features;
    }

    private static Map<WorkerPhase, Duration> seconds(Matcher match) {
        Map<WorkerPhase, Duration> seconds = new EnumMap<>(WorkerPhase.class);
        for (WorkerPhase phase : WorkerPhase.values()) {
            Optional.ofNullable(match.group(phase.toString()))
                    .ifPresent(duration ->
                            seconds.put(phase, Duration.ofMillis(Long.parseLong(duration.replace(".", "")))));
        }
        return seconds;
    }

    /** Returns the comment for a job's last ticket. Numbers out of range are replaced by the nearest in range. */
    static AdminComment of(JobTicket entry) {
        Map<WorkerPhase, Duration> seconds = new EnumMap<>(WorkerPhase.class);
        entry.phaseDurations().forEach((phase, duration) -> {
            Duration atLeastZero = duration.isNegative() ? Duration.ZERO : duration;
            seconds.put(
                    phase,
                    Duration.ofMillis(
                            (atLeastZero.compareTo(MAX_DURATION) > 0 ? MAX_DURATION : atLeastZero).toMillis()));
        });
        return new AdminComment(
                entry.request().features(),
                Optional.of(new Attempt(entry.ticket(), Math.min(entry.attempt(), MAX_ATTEMPT), seconds)));
    }

    String text() {
        String positions = features.isEmpty()
                ? "-"
                : features.stream().map(String::valueOf).collect(Collectors.joining(","));
        return "v=1 features=" + positions + attempt.map(AdminComment::text).orElse("");
    }

    private static String text(Attempt attempt) {
        return " ticket=" + attempt.ticket() + " attempt=" + attempt.number()
                + new TreeMap<>(attempt.seconds())
                        .entrySet().stream()
                                .map(each -> " " + each.getKey() + "=" + seconds(each.getValue()))
                                .collect(Collectors.joining());
    }

    private static String seconds(Duration duration) {
        return String.format(Locale.ROOT, "%d.%03d", duration.toSeconds(), duration.toMillisPart());
    }
}
