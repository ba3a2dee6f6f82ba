package org.cloister.lab.project;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.base.encoding.Digest;
import org.cloister.lab.LabException;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.circuit.CircuitException;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.ClientLink;

/** Connection of a project's member to the relay, without the checks that agentctl would make itself. */
@SuppressWarnings("FutureReturnValueIgnored") // the end of the loop is not awaited
record RawMemberAgent(RelaySiteFiles siteFiles, int relay) {
    private static final long LIMIT_S = 60;

    /** Opens a circuit to that name and returns how it failed. */
    String openCircuit(CertificateName whom) throws IOException {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            TrustStore trustStore = siteFiles.beliefs();
            ClientLink link = ClientLink.dial(
                            loops,
                            RelaySiteFiles.loopback(relay),
                            siteFiles.credential(siteFiles.device()),
                            CertifiedPeerVerifier.forRelays(trustStore).only(RelaySiteFiles.RELAY))
                    .get(LIMIT_S, TimeUnit.SECONDS);
            CircuitTerms terms = new CircuitTerms(siteFiles.member(), whom, Digest.sha384("a policy"));
            var opened = Circuit.open(
                    link,
                    terms,
                    siteFiles.credential(siteFiles.member()),
                    CertifiedPeerVerifier.forCircuitEnds(trustStore),
                    (pipeline, circuit) -> {});
            opened.await(LIMIT_S, TimeUnit.SECONDS);
            if (opened.cause() instanceof CircuitException refused) {
                return String.valueOf(refused.getMessage());
            }
            return opened.isSuccess() ? "open" : String.valueOf(opened.cause());
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("a link to the relay: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted", "start again", e);
        } finally {
            loops.shutdownGracefully();
        }
    }
}
