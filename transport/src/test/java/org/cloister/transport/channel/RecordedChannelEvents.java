package org.cloister.transport.channel;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;

/** Events that an agent in a test has received. */
final class RecordedChannelEvents implements AgentLinkListener {
    final BlockingQueue<AgentAttachStream> attachments = new LinkedBlockingQueue<>();
    final BlockingQueue<Optional<CloseReason>> served = new LinkedBlockingQueue<>();
    final BlockingQueue<ByteString> revocations = new LinkedBlockingQueue<>();
    final BlockingQueue<String> losses = new LinkedBlockingQueue<>();

    final BlockingQueue<Duration> leaves = new LinkedBlockingQueue<>();

    static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T value = queue.poll(40, TimeUnit.SECONDS);
        if (value == null) {
            throw new AssertionError("nothing came");
        }
        return value;
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attachments.add(attachment);
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        served.add(refused);
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {}

    @Override
    public boolean onRevocationList(byte[] signed) {
        revocations.add(ByteString.copyFrom(signed));
        return true;
    }

    @Override
    public void onShutdownRequest(Duration within) {
        leaves.add(within);
    }

    @Override
    public void onLost(String why) {
        losses.add(why);
    }
}
