package org.cloister.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Owners;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.ticket.ProjectPapers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeliveriesTest {
    @TempDir
    private Path folder;

    private final Site site;
    private Instant now = Instant.now();

    DeliveriesTest() throws Exception {
        site = new Site();
    }

    private Deliveries open() throws IOException {
        return Deliveries.open(folder, List.of(site.key.verificationKey()), () -> now);
    }

    private void deliverAll() throws Exception {
        try (Deliveries deliveries = open()) {
            for (byte[] each : site.deliveries()) {
                deliveries.take(each);
            }
        }
    }

    @Test
    void what_was_taken_is_there_after_a_restart() throws Exception {
        deliverAll();
        Files.write(folder.resolve("lists/half.new"), new byte[3]);
        try (Deliveries again = open()) {
            assertThat(again.projects()).isEqualTo(2);
            assertThat(again.beliefs().lists().all()).hasSize(3);
            assertThat(again.beliefs().anchors().of(site.a.id())).hasSize(2);
        }
        assertThat(folder.resolve("lists/half.new")).doesNotExist();
    }

    @Test
    void the_same_again_changes_nothing_and_an_older_one_is_refused() throws Exception {
        deliverAll();
        try (Deliveries deliveries = open()) {
            for (byte[] each : List.of(site.a.genesis, Files.readAllBytes(approvalFile()))) {
                deliveries.take(each);
            }
            deliveries.take(Site.list(site.authority, 5));
            assertThatThrownBy(() -> deliveries.take(Site.list(site.authority, 4)))
                    .hasMessageContaining("above 5");
        }
        now = now.plus(Duration.ofHours(25));
        try (Deliveries again = open()) {
            assertThatThrownBy(() -> again.take(Site.list(site.authority, 4)))
                    .as("though the newer one has ended")
                    .isInstanceOf(IOException.class);
        }
    }

    private Path approvalFile() {
        return folder.resolve("projects").resolve(site.a.id()).resolve("approval.json");
    }

    @Test
    void a_damaged_file_stops_the_start_and_says_what_to_do() throws Exception {
        deliverAll();
        byte[] whole = Files.readAllBytes(approvalFile());
        for (Path file : List.of(
                approvalFile(),
                approvalFile().resolveSibling("document-0.json"),
                folder.resolve("lists").resolve(site.key.verificationKey().id()))) {
            byte[] before = Files.readAllBytes(file);
            Files.write(file, new byte[] {'{'});
            assertThatThrownBy(this::open).hasMessageContaining("remove it and deliver it again");
            Files.write(file, before);
        }
        assertThat(Files.readAllBytes(approvalFile())).isEqualTo(whole);
        open().close();
    }

    @Test
    void a_project_whose_first_document_was_not_written_stops_nobody() throws Exception {
        deliverAll();
        Path empty = Files.createDirectory(folder.resolve("projects/empty"));
        Path half = Files.createDirectory(folder.resolve("projects/half"));
        Files.write(half.resolve("document-0.json.new"), new byte[3]);
        try (Deliveries again = open()) {
            assertThat(again.projects()).isEqualTo(2);
        }
        assertThat(empty).doesNotExist();
        assertThat(half).doesNotExist();
        Files.delete(approvalFile().resolveSibling("document-0.json"));
        assertThatThrownBy(this::open).hasMessageContaining("remove it and deliver it again");
        assertThat(approvalFile()).exists();
    }

    @Test
    void a_project_is_served_while_its_approval_holds() throws Exception {
        deliverAll();
        try (Deliveries deliveries = open()) {
            deliveries.take(site.ended(site.a, 2));
            assertThat(deliveries.projects()).isEqualTo(1);
            assertThat(deliveries.beliefs().anchors().of(site.a.id())).isEmpty();
            now = now.plus(Duration.ofDays(31));
            deliveries.look();
            assertThat(deliveries.beliefs().anchors().of(site.b.id())).isEmpty();
            assertThat(deliveries.beliefs().anchors().of(Name.SITE)).hasSize(1);
        }
    }

    @Test
    void what_others_need_to_believe_a_project_is_given_as_it_came_though_its_approval_has_ended() throws Exception {
        deliverAll();
        byte[] ended = site.ended(site.a, 2);
        byte[] list = Site.list(site.a.authority, 5);
        Owners owners = site.a.history.owners();
        byte[] successor = Site.sign(
                ProjectDocument.SUCCESSOR, site.a.history.successor(owners, Instant.now()), site.a.ann, site.a.ben);
        try (Deliveries deliveries = open()) {
            deliveries.take(list);
            deliveries.take(successor);
            deliveries.take(ended);
        }
        try (Deliveries again = open()) {
            Optional<VerificationKey> ann = Optional.of(site.a.ann.verificationKey());
            ProjectPapers papers = again.papers(site.a.id(), ann);
            assertThat(papers)
                    .isEqualTo(new ProjectPapers(
                            List.of(ByteString.copyFrom(site.a.genesis), ByteString.copyFrom(successor)),
                            ByteString.copyFrom(ended),
                            ByteString.copyFrom(list)));
            assertThat(again.papers(site.a.id(), Optional.of(site.a.ben.verificationKey()))
                            .list())
                    .isEqualTo(ByteString.EMPTY);
            assertThat(again.papers("x", Optional.empty())).isEqualTo(ProjectPapers.none());
        }
    }

    @Test
    void an_owner_whom_a_successor_drops_is_believed_no_more_after_a_restart_too() throws Exception {
        deliverAll();
        SigningKey eve = SigningKey.of(Site.pair(Curve.P384));
        Owners owners = new Owners(
                2,
                List.of(
                        new Owners.Owner("ben", site.a.ben.verificationKey()),
                        new Owners.Owner("eve", eve.verificationKey())));
        byte[] successor = Site.sign(
                ProjectDocument.SUCCESSOR, site.a.history.successor(owners, now), site.a.ann, site.a.ben, eve);
        try (Deliveries deliveries = open()) {
            assertThat(deliveries.take(successor).text()).contains("document 1");
        }
        try (Deliveries again = open()) {
            assertThat(again.beliefs().anchors().of(site.a.id()))
                    .doesNotContain(site.a.ann.verificationKey())
                    .contains(eve.verificationKey());
            assertThatThrownBy(() -> again.take(Site.list(site.a.authority, 9)))
                    .hasMessageContaining("signature of an anchor");
        }
    }
}
