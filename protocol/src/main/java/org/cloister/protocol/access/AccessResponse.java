package org.cloister.protocol.access;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.handover.LoginRules;
import org.cloister.protocol.link.CriticalFields;

/** What a controlling VM says first in a person's circuit. */
public sealed interface AccessResponse {
    MessageLite wire();

    /**
     * SSH's bytes follow, both ways.
     *
     * @param login the person's in the VM
     */
    record Granted(SshPublicKey hostKey, String login) implements AccessResponse {
        /** @throws IllegalArgumentException if the login has not the form of one */
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
     * Nothing follows.
     *
     * @param word for programs
     * @param text for the person
     */
    record Refused(String word, String text) implements AccessResponse {
        /** The project's list of members has not this person. */
        public static final String MEMBER = "member";
        /** Of the person, or of all, there are as many as may be. */
        public static final String SESSIONS = "sessions";
        /** What is taken out cannot be recorded. */
        public static final String RECORD = "record";
        /** The VM cannot just now. */
        public static final String TROUBLE = "trouble";

        private static final Pattern WORD = Pattern.compile("[a-z-]{1,32}");
        private static final Pattern TEXT = Pattern.compile("[ -~]{1,512}");

        /** @throws IllegalArgumentException if one is out of its range */
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

    /** Whatever a VM sent. */
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
