package org.cloister.lab.documents;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Form of a commit's subject: {@code area: imperative summary}. */
final class CommitSubjects {
    private static final int LONGEST = 72;
    private static final Pattern FORM = Pattern.compile("[a-z][a-z0-9.-]*(?:, [a-z][a-z0-9.-]*)*: (\\S+)( .*)?");
    private static final Pattern VERB = Pattern.compile("[a-z]+(?:-[a-z]+)*");
    /** Words that begin noun phrases and clauses. */
    private static final Set<String> NO_VERBS = Set.of(
            ("a all an another both each every her his its more much my new no one our plain plainer same some such that"
                            + " the their there these this those two what when where which who why your")
                    .split(" ", -1));
    /** Verbs in the imperative that end as past or present forms do. */
    private static final Set<String> IMPERATIVES =
            Set.of("bring", "embed", "feed", "need", "ping", "shed", "seed", "speed", "string", "proceed", "exceed");

    private CommitSubjects() {}

    /** Says what is wrong with a subject, if anything is. */
    static Optional<String> complaint(String subject) {
        if (subject.length() > LONGEST) {
            return Optional.of("has " + subject.length() + " characters; want at most " + LONGEST);
        }
        Matcher form = FORM.matcher(subject);
        if (!form.matches()) {
            return Optional.of("want \"area: imperative summary\"");
        }
        String verb = form.group(1);
        return isImperative(verb) ? Optional.empty() : Optional.of("\"" + verb + "\" is no verb in the imperative");
    }

    private static boolean isImperative(String word) {
        if (!VERB.matcher(word).matches() || NO_VERBS.contains(word)) {
            return false;
        }
        boolean isInflected = word.endsWith("ed")
                || word.endsWith("ing")
                || (word.endsWith("s") && !word.endsWith("ss") && !word.endsWith("us"));
        return IMPERATIVES.contains(word) || !isInflected;
    }
}
