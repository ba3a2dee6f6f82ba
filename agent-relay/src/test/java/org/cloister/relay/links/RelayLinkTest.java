package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("boundary")
class RelayLinkTest {
    private static RelayLink attached(TestSite site, EmbeddedChannel stream) throws Exception {
        TlsCredential own = site.credential(RelayFixture.HOST);
        CertifiedIdentity host = CertificateChain.of(own.chain())
                .verifyUnlisted(Set.of(CertificateRole.HOST), site.anchors(), Instant.now());
        RelayLink link = new RelayLink(new EmbeddedChannel(), host, List.of(), Instant.now());
        link.onAttached(stream, "a test's agent");
        return link;
    }

    @Test
    void what_waits_on_an_attach_stream_is_bounded_by_bytes_too() throws Exception {
        EmbeddedChannel unread = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
                // As on a stream whose window is closed: the promise is never kept.
            }
        });
        RelayLink link = attached(new TestSite(), unread);
        ByteString request = ByteString.copyFrom(new byte[ProtocolLimits.ATTACH_QUEUE_BYTES / 8]);
        int sent = 0;
        while (sent < ProtocolLimits.ATTACH_QUEUE
                && link.send(new RelayMessage.RenewalRequested(1, RelayFixture.HOST, request))) {
            sent++;
        }
        assertThat(sent)
                .as("messages of an eighth of the limit, and a little more")
                .isEqualTo(7);
    }

    @Test
    void one_revocation_list_is_one_buffer_however_many_links_it_goes_to() throws Exception {
        TestSite site = new TestSite();
        RevocationList list = RevocationList.read(site.lists().get(0), Set.of(site.key.verificationKey()));
        EmbeddedChannel first = new EmbeddedChannel();
        EmbeddedChannel second = new EmbeddedChannel();
        RevocationListFrames lists = new RevocationListFrames();
        assertThat(attached(site, first).sendRevocationList(list, lists.framed(list, Set.of(list))))
                .isTrue();
        assertThat(attached(site, second).sendRevocationList(list, lists.framed(list, Set.of(list))))
                .isTrue();
        ByteBuf one = first.readOutbound();
        ByteBuf other = second.readOutbound();
        assertThat(one).isEqualTo(other);
        assertThat(one.array()).as("the bytes that wait on two links").isSameAs(other.array());
    }
}
