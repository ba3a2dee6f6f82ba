package org.cloister.protocol.access;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.handover.LoginRules;
import org.cloister.protocol.link.CriticalFields;

/** First message of a controlling VM in a person's circuit: access is granted or refused. */
public sealed interface AccessResponse {
    MessageLite wire();

    /**
     * Access is granted; SSH's bytes follow in both directions.
     *
     * @param login the person's login in the VM
     */
    record Granted(SshPublicKey hostKey, String login) implements AccessResponse {
        /** @throws IllegalArgumentException if the login is malformed */
        public Granted {
            if (!LoginRules.FORM.matcher(login).matches()) {
                throw new IllegalArgumentException(
                        "granted: login: want " + LoginRules.FORM + ", have " + login.length() + " other characters");
            }
        }

        @Override
        public MessageLite wire() {
            return org.cloister.protocol.access.wire.AccessAnswer.newBuilder()
                    .setGranted(org.cloister.protocol.access.wire.Granted.newBuilder()
                            .setHostKey(hostKey.toString())
                            .setLogin(login))
                    .build();
        }
    }

    /**
     * Access is refused; nothing follows.
     *
     * @param word the reason, for programs
     * @param text the reason, for the person
     */
    record Refused(String word, String text) implements AccessResponse {
        /** The person is not in the project's list of members. */
        public static final String MEMBER = "member";
        /** The limit of sessions, for the person or for all people, is reached. */
        public static final String SESSIONS = "sessions";
        /** Exported files cannot be recorded. */
        public static final String RECORD = "record";
        /** The VM temporarily cannot serve the session. */
        public static final String TROUBLE = "trouble";

        private static final Pattern WORD = Pattern.compile("[a-z-]{1,32}");
        private static final Pattern TEXT = Pattern.compile("[ -~]{1,512}");

        /** @throws IllegalArgumentException if a value is out of its range */
        public Refused {
            if (!WORD.matcher(word).matches()) {
                throw new IllegalArgumentException(
                        "refused: word: want " + WORD + ", have " + word.length() + " other characters");
            }
            if (!TEXT.matcher(text).matches()) {
                throw new IllegalArgumentException(
                        "refused: text: want " + TEXT + ", have " + text.length() + " other characters");
            }
        }

        @Override
        public MessageLite wire() {
            return org.cloister.protocol.access.wire.AccessAnswer.newBuilder()
                    .setRefused(org.cloister.protocol.access.wire.Refused.newBuilder()
                            .setWord(word)
                            .setText(text))
                    .build();
        }
    }

    /** Parses what a VM sent; the bytes may be arbitrary. */
    static AccessResponse read(byte[] bytes) throws MalformedException {
        try {
            org.cloister.protocol.access.wire.AccessAnswer message =
                    org.cloister.protocol.access.wire.AccessAnswer.parseFrom(bytes);
            CriticalFields.require(
                    message.getCriticalList(), org.cloister.protocol.access.wire.AccessAnswer.REFUSED_FIELD_NUMBER);
            return switch (message.getKindCase()) {
                case GRANTED ->
                    new Granted(
                            SshPublicKey.parse(message.getGranted().getHostKey()),
                            message.getGranted().getLogin());
                case REFUSED ->
                    new Refused(
                            message.getRefused().getWord(), message.getRefused().getText());
                case KIND_NOT_SET -> throw new MalformedException("access: want a grant or a refusal, have neither");
            };
        } catch (InvalidProtocolBufferException e) {
            throw new MalformedException("access: " + e.getMessage(), e);
        } catch (IllegalArgumentException e) {
            throw new MalformedException("access: " + e.getMessage(), e);
        }
    }
}
