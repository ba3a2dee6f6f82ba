package org.cloister.vm.controller.ssh;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;

/**
 * Relays packets between an SFTP client and its server (draft-ietf-secsh-filexfer-02) unchanged, and reports which file
 * is opened, before the server receives the request, and how much of it was sent. Uses one thread per direction.
 */
final class SftpMonitor {
    /** Limit of OpenSSH's server. */
    private static final int MAX_PACKET = 256 * 1024;
    /** Limit of unanswered requests and of open files; OpenSSH's client has 64, its server about 100. */
    private static final int MAX_PENDING = 4096;

    private static final int INIT = 1;
    private static final int OPEN = 3;
    private static final int CLOSE = 4;
    private static final int READ = 5;
    private static final int HANDLE = 102;
    private static final int DATA = 103;

    private final FileListener listener;
    /** Requests by their ids, which the responses repeat; servers respond in any order. */
    private final Map<Integer, PendingRequest> pending = new HashMap<>();

    private final Map<String, OpenFile> files = new HashMap<>();

    /**
     * A pending request.
     *
     * @param what path or handle
     */
    private record PendingRequest(int type, String what) {}

    private static final class OpenFile {
        final byte[] path;
        long bytes;

        OpenFile(byte[] path) {
            this.path = path;
        }
    }

    /** Receives reports on files. */
    interface FileListener {
        /**
         * Reports a file before the server receives the request to open it.
         *
         * @throws IOException to keep the request from the server
         */
        void onOpen(byte[] path) throws IOException;

        void onSent(byte[] path, long bytes) throws IOException;
    }

    SftpMonitor(FileListener listener) {
        this.listener = listener;
    }

    /** Relays requests until the client ends its output. */
    void relayRequests(InputStream client, OutputStream server) throws IOException {
        DataInputStream from = new DataInputStream(client);
        for (byte[] packet = next(from); packet.length > 0; packet = next(from)) {
            ByteBuffer fields = ByteBuffer.wrap(packet);
            try {
                onRequest(fields.get(), fields);
            } catch (BufferUnderflowException e) {
                throw new MalformedException("sftp: a request is shorter than it says", e);
            }
            forward(packet, server);
        }
    }

    private void onRequest(int type, ByteBuffer fields) throws IOException {
        if (type == INIT) {
            return;
        }
        int id = fields.getInt();
        String what = type == OPEN || type == READ || type == CLOSE ? name(string(fields)) : "";
        if (type == OPEN) {
            listener.onOpen(bytes(what));
        }
        synchronized (this) {
            requireRoom(pending.size());
            if (pending.putIfAbsent(id, new PendingRequest(type, what)) != null) {
                throw new MalformedException(
                        "sftp: want requests with ids of their own, have two of " + Integer.toUnsignedString(id));
            }
        }
    }

    /** Relays responses until the server ends its output. Files that are still open then are reported, too. */
    void relayResponses(InputStream server, OutputStream client) throws IOException {
        try {
            DataInputStream from = new DataInputStream(server);
            for (byte[] packet = next(from); packet.length > 0; packet = next(from)) {
                ByteBuffer fields = ByteBuffer.wrap(packet);
                try {
                    Optional<OpenFile> closed = onResponse(fields.get(), fields);
                    if (closed.isPresent()) {
                        listener.onSent(closed.get().path, closed.get().bytes);
                    }
                } catch (BufferUnderflowException e) {
                    throw new MalformedException("sftp: an answer is shorter than it says", e);
                }
                forward(packet, client);
            }
        } finally {
            Map<String, OpenFile> stillOpen;
            synchronized (this) {
                stillOpen = Map.copyOf(files);
                files.clear();
            }
            for (OpenFile file : stillOpen.values()) {
                listener.onSent(file.path, file.bytes);
            }
        }
    }

    /**
     * Handles a response.
     *
     * @return the file that it closes: data that were requested earlier have arrived before
     */
    private synchronized Optional<OpenFile> onResponse(int type, ByteBuffer fields) throws IOException {
        if (fields.remaining() < Integer.BYTES) {
            return Optional.empty();
        }
        PendingRequest request = pending.remove(fields.getInt());
        if (request == null) {
            return Optional.empty();
        }
        if (request.type == OPEN && type == HANDLE) {
            requireRoom(files.size());
            files.put(name(string(fields)), new OpenFile(bytes(request.what)));
        } else if (request.type == READ && type == DATA) {
            OpenFile file = files.get(request.what);
            if (file != null) {
                file.bytes += fields.getInt() & 0xffff_ffffL;
            }
        } else if (request.type == CLOSE) {
            return Optional.ofNullable(files.remove(request.what));
        }
        return Optional.empty();
    }

    private static void requireRoom(int size) throws MalformedException {
        if (size >= MAX_PENDING) {
            throw new MalformedException(
                    "sftp: want at most " + MAX_PENDING + " requests and files at a time, have more");
        }
    }

    /** Converts a handle or a path to text without loss. */
    private static String name(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte[] string(ByteBuffer fields) {
        int length = fields.getInt();
        if (length < 0 || length > fields.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] bytes = new byte[length];
        fields.get(bytes);
        return bytes;
    }

    /**
     * Reads the next packet.
     *
     * @return the packet without its length; empty at the end
     */
    private static byte[] next(DataInputStream from) throws IOException {
        int length;
        try {
            length = from.readInt();
        } catch (EOFException e) {
            return new byte[0];
        }
        if (length < 1 || length > MAX_PACKET) {
            throw new MalformedException("sftp: want packets of 1 to " + MAX_PACKET + " bytes, have one of "
                    + Integer.toUnsignedString(length));
        }
        byte[] packet = from.readNBytes(length);
        if (packet.length < length) {
            throw new MalformedException("sftp: want " + length + " bytes of a packet, have " + packet.length);
        }
        return packet;
    }

    private static void forward(byte[] packet, OutputStream to) throws IOException {
        byte[] framed = ByteBuffer.allocate(Integer.BYTES + packet.length)
                .putInt(packet.length)
                .put(packet)
                .array();
        to.write(framed);
        to.flush();
    }
}
