package org.cloister.vm.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.worker.Phase;

/**
 * A job's AdminComment, in the one form in which our plugin and we write it.
 *
 * @param features places in the approval's list, ascending
 * @param attempt empty before the first
 */
record AdminText(List<Integer> features, OptionalInt attempt) {
    static final int MAX_CHARS = 1024;

    private static final Pattern FORM = Pattern.compile(
            "\\{\"v\":1,\"features\":\\[((?:[0-9]{1,2}(?:,[0-9]{1,2}){0,31})?)\\]"
                    + "(?:,\"ticket\":\"[a-z2-7]{26}\",\"attempt\":([1-9][0-9]{0,8}),\"seconds\":\\{"
                    + "(?:\"[a-z]{1,20}\":[0-9]{1,9}\\.[0-9]{3}(?:,\"[a-z]{1,20}\":[0-9]{1,9}\\.[0-9]{3}){0,15})?\\})?\\}");

    AdminText {
        features = List.copyOf(features);
    }

    /** @throws MalformedException if neither our plugin nor we wrote it: the job came another way */
    static AdminText parse(String text) throws MalformedException {
        if (text.length() > MAX_CHARS) {
            throw new MalformedException(
                    "admin comment: want at most " + MAX_CHARS + " characters, have " + text.length());
        }
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new MalformedException(
                    "admin comment: want what the project's plugin writes, have " + StrictJson.quoted(text));
        }
        List<Integer> features = new ArrayList<>();
        int least = 0;
        String list = form.group(1);
        for (String each : list.isEmpty() ? new String[0] : list.split(",", -1)) {
            int place = Integer.parseInt(each);
            if (place < least || place >= ResourceRequest.MAX_FEATURES) {
                throw new MalformedException("admin comment: features: want places from " + least + " to "
                        + (ResourceRequest.MAX_FEATURES - 1) + ", have " + place);
            }
            features.add(place);
            least = place + 1;
        }
        String attempt = form.group(2);
        return new AdminText(
                features, attempt == null ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(attempt)));
    }

    /** Of a job's last ticket. */
    static String of(Entry entry) {
        Map<Phase, Duration> ordered = new TreeMap<>(entry.seconds());
        String seconds = ordered.entrySet().stream()
                .map(each -> "\"" + each.getKey() + "\":" + seconds(each.getValue()))
                .collect(Collectors.joining(","));
        String features =
                entry.request().features().stream().map(String::valueOf).collect(Collectors.joining(","));
        return "{\"v\":1,\"features\":[" + features + "],\"ticket\":\"" + entry.ticket() + "\",\"attempt\":"
                + entry.attempt() + ",\"seconds\":{" + seconds + "}}";
    }

    private static String seconds(Duration took) {
        return String.format(Locale.ROOT, "%d.%03d", took.toSeconds(), took.toMillisPart());
    }
}
