package org.cloister.relay.state;

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
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectOwners;
import org.cloister.protocol.ticket.ProjectTrustBundle;
import org.cloister.relay.links.TestSite;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeliveredDocumentsTest {
    @TempDir
    private Path folder;

    private final TestSite site;
    private Instant now = Instant.now();

    DeliveredDocumentsTest() throws Exception {
        site = new TestSite();
    }

    private DeliveredDocuments open() throws IOException {
        return DeliveredDocuments.open(folder, List.of(site.key.verificationKey()), () -> now);
    }

    private void deliverAll() throws Exception {
        try (DeliveredDocuments deliveries = open()) {
            for (byte[] each : site.deliveries()) {
                deliveries.store(each);
            }
        }
    }

    @Test
    void what_was_taken_is_there_after_a_restart() throws Exception {
        deliverAll();
        Files.write(folder.resolve("lists/half.new"), new byte[3]);
        try (DeliveredDocuments again = open()) {
            assertThat(again.projects()).isEqualTo(2);
            assertThat(again.trustStore().lists().all()).hasSize(3);
            assertThat(again.trustStore().anchors().of(site.a.id())).hasSize(2);
        }
        assertThat(folder.resolve("lists/half.new")).doesNotExist();
    }

    @Test
    void the_same_again_changes_nothing_and_an_older_one_is_refused() throws Exception {
        deliverAll();
        try (DeliveredDocuments deliveries = open()) {
            for (byte[] each : List.of(site.a.genesis, Files.readAllBytes(approvalFile()))) {
                deliveries.store(each);
            }
            deliveries.store(TestSite.list(site.authority, 5));
            assertThatThrownBy(() -> deliveries.store(TestSite.list(site.authority, 4)))
                    .hasMessageContaining("above 5");
        }
        now = now.plus(Duration.ofHours(25));
        try (DeliveredDocuments again = open()) {
            assertThatThrownBy(() -> again.store(TestSite.list(site.authority, 4)))
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
            assertThatThrownBy(this::open).hasMessageContaining("delete it and deliver it again");
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
        try (DeliveredDocuments again = open()) {
            assertThat(again.projects()).isEqualTo(2);
        }
        assertThat(empty).doesNotExist();
        assertThat(half).doesNotExist();
        Files.delete(approvalFile().resolveSibling("document-0.json"));
        assertThatThrownBy(this::open).hasMessageContaining("delete it and deliver it again");
        assertThat(approvalFile()).exists();
    }

    @Test
    void a_project_is_served_while_its_approval_holds() throws Exception {
        deliverAll();
        try (DeliveredDocuments deliveries = open()) {
            deliveries.store(site.ended(site.a, 2));
            assertThat(deliveries.projects()).isEqualTo(1);
            assertThat(deliveries.trustStore().anchors().of(site.a.id())).isEmpty();
            now = now.plus(Duration.ofDays(31));
            deliveries.refreshApprovals();
            assertThat(deliveries.trustStore().anchors().of(site.b.id())).isEmpty();
            assertThat(deliveries.trustStore().anchors().of(CertificateName.SITE))
                    .hasSize(1);
        }
    }

    @Test
    void what_others_need_to_believe_a_project_is_given_as_it_came_though_its_approval_has_ended() throws Exception {
        deliverAll();
        byte[] ended = site.ended(site.a, 2);
        byte[] list = TestSite.list(site.a.authority, 5);
        ProjectOwners owners = site.a.history.owners();
        byte[] successor = TestSite.sign(
                ProjectDocument.SUCCESSOR, site.a.history.successor(owners, Instant.now()), site.a.ann, site.a.ben);
        try (DeliveredDocuments deliveries = open()) {
            deliveries.store(list);
            deliveries.store(successor);
            deliveries.store(ended);
        }
        try (DeliveredDocuments again = open()) {
            Optional<VerificationKey> ann = Optional.of(site.a.ann.verificationKey());
            ProjectTrustBundle bundle = again.trustBundle(site.a.id(), ann);
            assertThat(bundle)
                    .isEqualTo(new ProjectTrustBundle(
                            List.of(ByteString.copyFrom(site.a.genesis), ByteString.copyFrom(successor)),
                            ByteString.copyFrom(ended),
                            ByteString.copyFrom(list)));
            assertThat(again.trustBundle(site.a.id(), Optional.of(site.a.ben.verificationKey()))
                            .list())
                    .isEqualTo(ByteString.EMPTY);
            assertThat(again.trustBundle("x", Optional.empty())).isEqualTo(ProjectTrustBundle.none());
        }
    }

    @Test
    void an_owner_whom_a_successor_drops_is_believed_no_more_after_a_restart_too() throws Exception {
        deliverAll();
        SigningKey eve = SigningKey.of(TestSite.pair(SignatureCurve.P384));
        ProjectOwners owners = new ProjectOwners(
                2,
                List.of(
                        new ProjectOwners.Owner("ben", site.a.ben.verificationKey()),
                        new ProjectOwners.Owner("eve", eve.verificationKey())));
        byte[] successor = TestSite.sign(
                ProjectDocument.SUCCESSOR, site.a.history.successor(owners, now), site.a.ann, site.a.ben, eve);
        try (DeliveredDocuments deliveries = open()) {
            assertThat(deliveries.store(successor).text()).contains("document 1");
        }
        try (DeliveredDocuments again = open()) {
            assertThat(again.trustStore().anchors().of(site.a.id()))
                    .doesNotContain(site.a.ann.verificationKey())
                    .contains(eve.verificationKey());
            assertThatThrownBy(() -> again.store(TestSite.list(site.a.authority, 9)))
                    .hasMessageContaining("signature of an anchor");
        }
    }
}
