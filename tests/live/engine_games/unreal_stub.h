// What of Unreal the snippet uses, under the names of all the headers that it includes.
#pragma once
#include <arpa/inet.h>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
using int32 = int32_t; using uint32 = uint32_t; using uint8 = uint8_t; using TCHAR = char;
#define TEXT(text) text
struct FVector { double X, Y, Z; };
struct FQuat { double X, Y, Z, W; };
struct FString : std::string {
    FString(const char* text = "") : std::string(text) {}
    bool IsEmpty() const { return empty(); }
    const char* operator*() const { return c_str(); }
    static FString Printf(const char* format, ...) {
        char text[400]; va_list all; va_start(all, format); vsnprintf(text, 400, format, all);
        va_end(all); return FString(text);
    }
};
template <class T> using TSharedPtr = std::shared_ptr<T>;
struct FInternetAddr {
    sockaddr_in to{AF_INET};
    void SetIp(const TCHAR* ip, bool& valid) { valid = inet_pton(AF_INET, ip, &to.sin_addr) == 1; }
    void SetPort(int32 port) { to.sin_port = htons(port); }
};
struct FSocket {
    int it = socket(AF_INET, SOCK_DGRAM, 0);
    bool SendTo(const uint8* data, int32 count, int32& sent, const FInternetAddr& at) {
        sent = sendto(it, data, count, 0, (const sockaddr*)&at.to, sizeof at.to);
        return sent == count;
    }
};
#define PLATFORM_SOCKETSUBSYSTEM 0
struct ISocketSubsystem {
    static ISocketSubsystem* Get(int) { static ISocketSubsystem only; return &only; }
    TSharedPtr<FInternetAddr> CreateInternetAddr() { return std::make_shared<FInternetAddr>(); }
    void DestroySocket(FSocket* one) { close(one->it); delete one; }
};
struct FUdpSocketBuilder {
    FUdpSocketBuilder(const FString&) {}
    FUdpSocketBuilder& AsNonBlocking() { return *this; }
    FSocket* Build() { return new FSocket; }
};
struct IFileManager { static IFileManager& Get() { static IFileManager only; return only; } };
enum { FILEWRITE_None, FILEWRITE_Append = 8 };
struct FFileHelper {
    enum class EEncodingOptions { AutoDetect, ForceUTF8WithoutBOM };
    static bool SaveStringToFile(const FString& text, const TCHAR* path,
            EEncodingOptions = EEncodingOptions::AutoDetect, IFileManager* = &IFileManager::Get(),
            uint32 flags = 0) {
        FILE* file = fopen(path, flags & FILEWRITE_Append ? "ab" : "wb");
        fputs(text.c_str(), file); fclose(file); return true;
    }
};
