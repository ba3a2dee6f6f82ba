package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.cloister.luks.key.DriveEnvelope.Recipient;
import org.cloister.luks.key.DriveEnvelope.Role;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DriveEnvelopeTest {
    private static final String DRIVE = "0d6e1cf2-9bb3-4f2f-8a4a-6a6d5a5e0c11";

    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
    private final Hpke hpke = new Hpke(LibCryptoCalls.load(secrets));
    private final SealingKey first = hpke.generate();
    private final SealingKey second = hpke.generate();
    private final SealingKey safe = hpke.generate();
    private final SecretMemory driveKey = secrets.random(DriveEnvelope.KEY_LENGTH);
    private final DriveEnvelope envelope = DriveEnvelope.seal(
            hpke,
            DRIVE,
            List.of(
                    new Recipient("first", Role.OWNER, first.publicKey()),
                    new Recipient("second", Role.OWNER, second.publicKey()),
                    new Recipient("safe", Role.RECOVERY, safe.publicKey())),
            driveKey);

    DriveEnvelopeTest() throws IOException {}

    @AfterEach
    void no_secret_is_left_behind() {
        List.of(first, second, safe).forEach(SealingKey::close);
        driveKey.close();
        assertThat(secrets.liveCount()).isZero();
    }

    @Test
    void each_recipient_opens_it_alone_after_it_was_written_and_read() throws IOException {
        DriveEnvelope read = DriveEnvelope.read(envelope.json());
        assertThat(read.recipients()).isEqualTo(envelope.recipients());
        for (SealingKey key : List.of(first, second, safe)) {
            try (SecretMemory opened = read.open(hpke, key)) {
                assertThat(opened.sameAs(driveKey)).isTrue();
            }
        }
    }

    @Test
    void recipients_come_and_go_and_the_others_still_open_it() throws IOException {
        try (SealingKey third = hpke.generate();
                SecretMemory opened = envelope.open(hpke, safe)) {
            DriveEnvelope more = envelope.with(hpke, new Recipient("third", Role.OPENER, third.publicKey()), opened);
            DriveEnvelope fewer = more.without("first").without("safe");
            assertThat(fewer.recipients()).extracting(Recipient::name).containsExactly("second", "third");
            for (SealingKey key : List.of(second, third)) {
                try (SecretMemory again = DriveEnvelope.read(fewer.json()).open(hpke, key)) {
                    assertThat(again.sameAs(driveKey)).isTrue();
                }
            }
            assertThatThrownBy(() -> fewer.open(hpke, first))
                    .isInstanceOf(KeyException.Refused.class)
                    .hasMessageContaining("[second, third]");
            assertThatThrownBy(() -> fewer.without("third")).hasMessageContaining("want 2 to 16 recipients, have 1");
            assertThatThrownBy(() -> fewer.without("nobody")).hasMessageContaining("none of that name");
        }
    }

    @Test
    void an_entry_is_bound_to_its_drive_name_and_role() {
        String json = new String(envelope.json(), StandardCharsets.US_ASCII);
        for (String changed : List.of(
                json.replace(DRIVE, "0d6e1cf2-9bb3-4f2f-8a4a-6a6d5a5e0c12"),
                json.replace("\"first\"", "\"fir.st\""),
                json.replaceFirst("\"owner\"", "\"opener\""))) {
            assertThat(changed).isNotEqualTo(json);
            assertThatThrownBy(() -> read(changed).open(hpke, first)).isInstanceOf(KeyException.Refused.class);
        }
    }

    @Test
    void as_a_token_it_names_its_key_slots() throws IOException {
        DriveEnvelope token = envelope.forKeyslots(Set.of(7, 0));
        assertThat(new String(token.json(), StandardCharsets.US_ASCII))
                .startsWith("{\"type\":\"cloister-envelope\",\"keyslots\":[\"0\",\"7\"],\"version\":1,");
        assertThat(DriveEnvelope.read(token.json()).keyslots()).containsExactly(0, 7);
    }

    @Test
    void the_largest_fits_into_a_header() throws IOException {
        List<Recipient> recipients = new ArrayList<>();
        for (int i = 0; i < DriveEnvelope.MAX_RECIPIENTS; i++) {
            try (SealingKey key = hpke.generate()) {
                recipients.add(new Recipient("n".repeat(62) + (10 + i), Role.RECOVERY, key.publicKey()));
            }
        }
        byte[] json = DriveEnvelope.seal(hpke, DRIVE, recipients, driveKey).json();
        assertThat(json.length).isLessThan(KeyFormatJson.MAX_DOCUMENT * 3 / 4);
        assertThat(DriveEnvelope.read(json).recipients()).hasSize(16);
    }

    @Test
    void reads_nothing_but_its_own_form() {
        String json = new String(envelope.json(), StandardCharsets.US_ASCII);
        List<String> bad = new ArrayList<>(List.of(
                "",
                "null",
                "[]",
                "{}",
                json + "{}",
                json.substring(0, json.length() - 1),
                json.replace("\"version\":1", "\"version\":2"),
                json.replace("\"version\":1", "\"version\":1.0"),
                json.replace("\"version\":1", "\"version\":\"1\""),
                json.replace("\"version\":1", "\"version\":1,\"version\":1"),
                json.replace("\"version\":1", "\"version\":1,\"more\":1"),
                json.replace("cloister-envelope", "cloister-envelopes"),
                json.replace("\"keyslots\":[]", "\"keyslots\":[0]"),
                json.replace("\"keyslots\":[]", "\"keyslots\":[\"32\"]"),
                json.replace("\"keyslots\":[]", "\"keyslots\":[\"1\",\"1\"]"),
                json.replace("\"keyslots\":[]", "\"keyslots\":[\"01\"]"),
                json.replace("\"second\"", "\"first\""),
                json.replace("\"second\"", "\"sec ond\""),
                json.replace("\"recovery\"", "\"RECOVERY\""),
                json.replace(DRIVE, ""),
                json.replaceFirst("\"key\":\"BA?", "\"key\":\"AA"),
                json.replaceFirst("\"sealed\":\"....", "\"sealed\":\""),
                json.replaceFirst("\"key\":\"....", "\"key\":\"B*AA"),
                json.replaceFirst("\"name\":\"first\",", "")));
        bad.add(json.replace("\"drive\"", " ".repeat(KeyFormatJson.MAX_DOCUMENT) + "\"drive\""));
        for (String text : bad) {
            assertThat(text).isNotEqualTo(json);
            assertThatThrownBy(() -> read(text)).as(text).isInstanceOf(KeyException.Malformed.class);
        }
    }

    @Test
    void the_same_key_may_not_come_twice() {
        assertThatThrownBy(() -> envelope.with(hpke, new Recipient("again", Role.OWNER, first.publicKey()), driveKey))
                .hasMessageContaining("again or its key twice");
    }

    private static DriveEnvelope read(String json) throws KeyException.Malformed {
        return DriveEnvelope.read(json.getBytes(StandardCharsets.UTF_8));
    }
}
